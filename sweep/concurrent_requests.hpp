// Work that waits for a network and not for a core: more threads than cores help.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace headroom::sweep {

/// As many connections as a polite client opens to one host.
inline constexpr std::size_t max_connections = 8;

/// Calls `work(i)` for every i below `count`; `work` must not throw.
template <class Work>
void run_concurrently(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t k = 1; k < std::min(count, max_connections); ++k) threads.emplace_back(take);
  take();
}

}  // namespace headroom::sweep
