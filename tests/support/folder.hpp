// A folder for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace headroom::test {

/// A new folder that is removed with the test. Concurrent tests never share one.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headroom-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace headroom::test
