// Files fetched from a hub, kept between runs: complete small files and the first bytes of big
// ones. A broken or foreign file in it reads as not there.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// A file as it was fetched, or the beginning of it.
struct CachedFile {
  std::string etag;     ///< the server's ETag; empty: it gave none
  std::string commit;   ///< 40 hexadecimal digits; empty: the server did not say
  std::string fetched;  ///< "2026-11-21", UTC
  Size total = -1;      ///< bytes of the whole file; -1: the repository has no such file
  std::string bytes;    ///< from the beginning on
};

class HubCache {
 public:
  /// Empty folder: nothing is kept.
  explicit HubCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// `file` of `repository` at `revision`, as `endpoint` served it.
  struct Key {
    std::string endpoint, repository, revision, file;
  };
  std::optional<CachedFile> find(const Key& key) const;
  /// Replaces the old entry atomically. A folder that cannot be written stores nothing.
  void store(const Key& key, const CachedFile& file) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path(const Key& key) const;
  std::filesystem::path folder_;
};

/// The day of a time as "2026-11-21", UTC.
std::string day_of(std::chrono::system_clock::time_point time);
std::string today();

}  // namespace headroom::sweep
