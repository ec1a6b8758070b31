// Quantities as people write them: "40GB", "37.25 GiB", "1.5TB/s", "312 TFLOPS". GB and GiB are
// never mixed.
#pragma once

#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom {

/// "8GB" = 8e9, "8GiB" = 8 * 2^30; B, KB … PB, KiB … PiB, case-insensitive, fractions allowed and
/// truncated to whole bytes. A bare number, a negative one or anything else throws
/// std::invalid_argument that says what would have worked. So does a small b after a capital prefix
/// ("8Gb"), which means bits.
Bytes parse_bytes(std::string_view text);
/// "1.5TB/s", "900 GB/s", "25GiB/s"; bits only by that name: "400Gbit/s". Throws as parse_bytes
/// does.
BytesPerSecond parse_rate(std::string_view text);
/// "312TFLOPS", "1.2 PFLOPS", "312TFLOP/s"; "TOPS" for integers. Throws as parse_bytes does.
FlopsPerSecond parse_flops(std::string_view text);

/// "200ms", "2 s", "1.5min", "3h". Throws as parse_bytes does; zero is refused.
Seconds parse_seconds(std::string_view text);

/// "37.25 GiB" (two decimals; MiB below one GiB).
std::string to_text(Bytes bytes);

}  // namespace headroom
