// flock on a file of its own, since sqlite's own locks are released between transactions.
#include "report/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "report/store.hpp"

namespace headroom::report {
namespace {

/// True if the locked file still has this name: its last owner may have removed it.
bool still_there(int descriptor, const std::filesystem::path& file) {
  struct stat held {};
  struct stat named {};
  return fstat(descriptor, &held) == 0 && stat(file.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& database) : file_(database.string() + "-lock") {
  while (true) {
    descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
      throw StoreError(fmt::format("{}: cannot be written ({})", file_.string(),
                                   std::generic_category().message(errno)));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      close(descriptor_);
      throw StoreError(
          reason == EWOULDBLOCK
              ? fmt::format("{}: another sweep is writing it; wait for it or choose another file",
                            database.string())
              : fmt::format("{}: cannot be locked ({})", file_.string(),
                            std::generic_category().message(reason)));
    }
    if (still_there(descriptor_, file_)) return;
    close(descriptor_);
  }
}

FileLock::~FileLock() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  close(descriptor_);
}

}  // namespace headroom::report
