// A library for LD_PRELOAD: the clock of the day loses an hour each time that it is read.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>

namespace {

using Gettime = int (*)(clockid_t, timespec*);

int turned_back(timespec* at) {
  static const auto real = reinterpret_cast<Gettime>(dlsym(RTLD_NEXT, "clock_gettime"));
  static std::atomic<long> hours = 0;
  const int code = real(CLOCK_REALTIME, at);
  at->tv_sec -= 3600 * ++hours;
  return code;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* at) noexcept {
  static const auto real = reinterpret_cast<Gettime>(dlsym(RTLD_NEXT, "clock_gettime"));
  return clock == CLOCK_REALTIME ? turned_back(at) : real(clock, at);
}

time_t time(time_t* to) noexcept {
  timespec now{};
  turned_back(&now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* to, void*) noexcept {
  timespec now{};
  const int code = turned_back(&now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return code;
}
}
