// A hash over the source of every formula, made by the build (sweep/run/source_hash.cmake).
#pragma once

namespace headroom::sweep {

/// Hexadecimal, SHA-256 of every .cpp and .hpp of hardware/ and model/.
extern const char source_hash[];

}  // namespace headroom::sweep
