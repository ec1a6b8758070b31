// Timed reads. Write speed is not measured, because weights are written once and read often.
#include "hardware/measure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A file that is unlinked as soon as it is open.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& folder)
      : path_((folder / "headroom-disk-XXXXXX").string()), descriptor_(mkstemp(path_.data())) {
    if (descriptor_ >= 0) unlink(path_.c_str());
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  std::string path_;
  int descriptor_;
};

constexpr std::size_t block = 4 << 20;
constexpr std::size_t max_blocks = 64;

/// Writes blocks until `end` or the size limit. Returns their number; 0 if the first write fails.
std::size_t fill(int descriptor, const char* bytes, Clock::time_point end) {
  std::size_t count = 0;
  while (count < max_blocks && (count == 0 || Clock::now() < end)) {
    if (write(descriptor, bytes, block) != static_cast<ssize_t>(block)) return 0;
    ++count;
  }
  return fsync(descriptor) == 0 ? count : 0;
}

}  // namespace

std::optional<BytesPerSecond> measure_ram(int threads, std::chrono::milliseconds limit) {
  constexpr std::size_t words = (64 << 20) / sizeof(std::uint64_t);
  const auto count = static_cast<std::size_t>(std::clamp(threads, 1, 1024));
  std::vector<std::vector<std::uint64_t>> buffers;
  try {
    for (std::size_t i = 0; i < count; ++i) buffers.emplace_back(words, i);
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
  const double bytes = static_cast<double>(count * words * sizeof(std::uint64_t));
  std::atomic<std::uint64_t> sink = 0;
  double best = 0;
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point begin = Clock::now();
    std::vector<std::jthread> readers;
    for (const auto& buffer : buffers)
      readers.emplace_back([&buffer, &sink] {
        // Four sums break the dependency between additions.
        std::uint64_t a = 0, b = 0, c = 0, d = 0;
        for (std::size_t i = 0; i < words; i += 4) {
          a += buffer[i];
          b += buffer[i + 1];
          c += buffer[i + 2];
          d += buffer[i + 3];
        }
        sink += a + b + c + d;
      });
    readers.clear();
    best = std::max(best, bytes / seconds_since(begin));
  } while (Clock::now() - start < limit);
  return BytesPerSecond(best);
}

std::optional<BytesPerSecond> measure_disk(const std::filesystem::path& folder,
                                           std::chrono::milliseconds limit) {
  const std::unique_ptr<char, decltype(&std::free)> buffer(
      static_cast<char*>(std::aligned_alloc(4096, block)), &std::free);
  if (!buffer) return std::nullopt;
  // Random bytes: some disks and file systems store zeros for free.
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < block; ++i) {
    state = state * 1664525u + 1013904223u;
    buffer.get()[i] = static_cast<char>(state >> 24);
  }
  const TemporaryFile file(folder);
  if (file.descriptor() < 0) return std::nullopt;
  const std::size_t blocks = fill(file.descriptor(), buffer.get(), Clock::now() + limit);
  if (blocks == 0) return std::nullopt;
  if (fcntl(file.descriptor(), F_SETFL, O_DIRECT) != 0) return std::nullopt;
  double bytes = 0;
  const Clock::time_point start = Clock::now();
  do {
    for (std::size_t i = 0; i < blocks && Clock::now() - start < limit; ++i) {
      const ssize_t count =
          pread(file.descriptor(), buffer.get(), block, static_cast<off_t>(i * block));
      if (count <= 0) return std::nullopt;
      bytes += static_cast<double>(count);
    }
  } while (Clock::now() - start < limit);
  return BytesPerSecond(bytes / seconds_since(start));
}

}  // namespace headroom
