// A progress bar with rate and time left, on a terminal only.
#pragma once

#include <chrono>

#include "hardware/units.hpp"

namespace headroom::sweep {

class Progress {
 public:
  Progress(Size first, Size total);
  /// `done` points of the total; at most ten times a second.
  void show(Size done);
  /// Removes the bar.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Size first_, total_;
  Clock::time_point start_, last_{};
  bool terminal_, drawn_ = false;
};

}  // namespace headroom::sweep
