// A physical constant of an engine, with its interval and its evidence.
#pragma once

#include <string_view>

namespace headroom::model {

struct Constant {
  double value, low, high;  ///< expected value and 80 % interval
  int measurements;         ///< 0: no measurement, printed as such
  std::string_view source;  ///< lives as long as the program
};

}  // namespace headroom::model
