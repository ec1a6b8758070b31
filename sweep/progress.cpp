#include "sweep/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "sweep/output.hpp"

namespace headroom::sweep {

Progress::Progress(Size first, Size total)
    : first_(first), total_(total), start_(Clock::now()), terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::show(Size done) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - first_) / seconds;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  constexpr int width = 30;
  const auto full = static_cast<std::size_t>(share * width);
  fmt::print(stderr, "\r[{}{}] {:5.1f} %  {} points/s  {} left\033[K", std::string(full, '#'),
             std::string(width - full, ' '), 100 * share, three_digits(rate),
             duration(static_cast<double>(total_ - done) / rate));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

}  // namespace headroom::sweep
