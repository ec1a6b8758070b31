// Keeps a second sweep from writing the same database: an advisory lock on FILE-lock in its folder.
// The system releases it even when the process is killed.
#pragma once

#include <filesystem>

namespace headroom::report {

class FileLock {
 public:
  /// Throws StoreError where another process holds it or the lock file cannot be written.
  explicit FileLock(const std::filesystem::path& database);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace headroom::report
