// Measures RAM and disk bandwidth of this computer within a bounded time. No file states them.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "hardware/units.hpp"

namespace headroom {

/// RAM read bandwidth of `threads` threads together. Sums a buffer far larger than the caches for
/// about `limit` and returns the best repetition. Absent if the buffer (64 MiB a thread) cannot be
/// allocated.
std::optional<BytesPerSecond> measure_ram(int threads, std::chrono::milliseconds limit);

/// Sequential read bandwidth in `folder`, without the page cache (O_DIRECT). Writes a temporary
/// file of up to 256 MiB for about `limit`, reads it for as long, and removes it. Absent if the
/// folder is not writable, is full, or its file system does not support O_DIRECT.
std::optional<BytesPerSecond> measure_disk(const std::filesystem::path& folder,
                                           std::chrono::milliseconds limit);

}  // namespace headroom
