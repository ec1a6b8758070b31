// Numbers of a screen with their intervals: three significant digits, no exponents.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {

/// The sign of a number that no measurement covers.
inline std::string_view unmeasured_sign(const model::Interval& of) {
  return of.measurements > 0 ? "" : "~";
}

/// The line that explains the sign.
inline constexpr std::string_view unmeasured_footnote =
    "~ No measurement of such weights on such cards or such a load stands behind this number.\n";

/// The footnote where `text` has the sign; else empty.
inline std::string footnote_of(std::string_view text) {
  return std::string(text.find('~') == std::string_view::npos ? "" : unmeasured_footnote);
}

/// "38.9 tokens/s (34–52)" of a rate whose time has the interval `of`; "~38.9" where nothing was
/// measured. `unit` follows the number.
inline std::string rate_with_interval(double rate, const model::Interval& of,
                                      std::string_view unit) {
  return fmt::format("{}{}{} ({}–{})", unmeasured_sign(of), three_digits(rate), unit,
                     two_digits(rate / of.high), two_digits(rate / of.low));
}

/// "241 ms (171 ms–379 ms)".
inline std::string time_with_interval(Seconds time, const model::Interval& of) {
  return fmt::format("{}{} ({}–{})", unmeasured_sign(of), duration(time.value()),
                     duration(time.value() * of.low), duration(time.value() * of.high));
}

}  // namespace headroom::sweep
