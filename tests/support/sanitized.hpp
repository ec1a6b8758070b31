// Tests that repeat one path many times repeat it less under a sanitizer, which looks at paths.
#pragma once

namespace headroom::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Every so manieth draw or model is enough.
inline constexpr int stride = is_sanitized ? 8 : 1;

}  // namespace headroom::test
