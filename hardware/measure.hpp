// Rates of this computer that no file states: RAM and disk, measured within a bounded time.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "hardware/units.hpp"

namespace headroom {

/// Bytes a second at which `threads` threads together read memory: sums over a buffer far larger
/// than the caches, repeated for about `limit`; the best repetition. Absent where the buffer (64
/// MiB a thread) cannot be had.
std::optional<BytesPerSecond> measure_ram(int threads, std::chrono::milliseconds limit);

/// Bytes a second of sequential reads in `folder`, past the page cache (O_DIRECT): writes a
/// temporary file of up to 256 MiB for about `limit`, reads it for as long, removes it. Absent
/// where the folder cannot be written, lacks the space, or its file system does not support
/// O_DIRECT.
std::optional<BytesPerSecond> measure_disk(const std::filesystem::path& folder,
                                           std::chrono::milliseconds limit);

}  // namespace headroom
