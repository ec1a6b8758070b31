// Options of engines' servers that an estimate leaves out.
#pragma once

#include <optional>
#include <string_view>

#include "sweep/options/flags.hpp"

namespace headroom::sweep {

struct LeftOut {
  Takes takes;
  bool described;  ///< false: it may change memory or speed, and is not read
};

/// How a pasted command of `runtime` has the option, where it is left out.
std::optional<LeftOut> left_out_of(std::string_view runtime, std::string_view spelling);

/// True for options of servers that change neither memory nor speed: --port, --jinja, …
bool changes_no_estimate(std::string_view spelling);

}  // namespace headroom::sweep
