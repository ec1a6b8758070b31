// Quantities as people write them: "40GB", "37.25 GiB", "1.5TB/s", "312 TFLOPS". GB and GiB are
// different units.
#pragma once

#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom {

/// "8GB" = 8e9, "8GiB" = 8 * 2^30. Accepts B, KB … PB and KiB … PiB in any case. Fractions are
/// truncated to whole bytes. Throws std::invalid_argument, with an example that would work, for a
/// bare number, a negative number or other text. "8Gb" is refused too, because a small b after a
/// capital prefix means bits.
Bytes parse_bytes(std::string_view text);
/// "1.5TB/s", "900 GB/s", "25GiB/s". Bits need their full name: "400Gbit/s". Throws as parse_bytes
/// does.
BytesPerSecond parse_rate(std::string_view text);
/// "312TFLOPS", "1.2 PFLOPS", "312TFLOP/s"; "TOPS" for integers. Throws as parse_bytes does.
FlopsPerSecond parse_flops(std::string_view text);

/// "200ms", "2 s", "1.5min", "3h". Throws as parse_bytes does, also for zero.
Seconds parse_seconds(std::string_view text);

/// "30%" or "0.3": above 0, at most 1. Throws as parse_bytes does.
double parse_positive_share(std::string_view text);
/// A number above 0, at most 10^12. Throws as parse_bytes does.
double parse_positive(std::string_view text);

/// The noun for a number of things: "row", "rows", "copies", "passes".
std::string plural(Size number, std::string_view noun);
/// "1 row", "12 rows".
std::string counted(Size number, std::string_view noun);

/// "35 %" of a share; "<1 %" and ">99 %" where rounding would make it none or all.
std::string percent(double share);
/// "+12 %", "-3 %", "0 %": what a time changes by, from their ratio.
std::string change_percent(double ratio);

/// "37.25 GiB" (two decimals; MiB below one GiB).
std::string to_text(Bytes bytes);

}  // namespace headroom
