// The temporary file is in the target's folder, so that the rename stays on one file system.
#include "report/whole_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "report/store.hpp"

namespace headroom::report {
namespace {

/// Removes the temporary file or folder unless it was renamed.
class Temporary {
 public:
  explicit Temporary(std::filesystem::path path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void rename_to(const std::filesystem::path& file) {
    std::filesystem::rename(path_, file);
    path_.clear();
  }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw StoreError(fmt::format("{}: cannot be written ({})", file.string(), reason));
}

/// Writes into `path`; errors name `file`.
void fill(const std::filesystem::path& path, const std::filesystem::path& file,
          const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (!out) fail(file, std::generic_category().message(errno));
  write(out);
  out.close();
  if (!out) fail(file, errno != 0 ? std::generic_category().message(errno) : "writing failed");
}

}  // namespace

void write_whole(const std::filesystem::path& file,
                 const std::function<void(std::ostream&)>& write) {
  namespace fs = std::filesystem;
  try {
    if (fs::is_other(file)) return fill(file, file, write);
    if (fs::is_symlink(file))
      return write_whole(file.parent_path() / fs::read_symlink(file), write);
    if (file.has_parent_path()) fs::create_directories(file.parent_path());
    Temporary temporary(fmt::format("{}.{}.tmp", file.string(), getpid()));
    fill(temporary.path(), file, write);
    temporary.rename_to(file);
  } catch (const std::filesystem::filesystem_error& error) {
    fail(file, error.code().message());
  } catch (const std::ios_base::failure&) {
    fail(file, errno != 0 ? std::generic_category().message(errno) : "writing failed");
  }
}

bool holds(const std::filesystem::path& file, std::string_view content) {
  std::error_code error;
  if (std::filesystem::file_size(file, error) != content.size() || error) return false;
  std::ifstream in(file, std::ios::binary);
  std::string found(content.size(), '\0');
  return in.read(found.data(), std::ssize(found)) && found == content;
}

void write_whole(const std::filesystem::path& file, std::string_view content) {
  if (holds(file, content)) return;
  write_whole(file, [&](std::ostream& out) {
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
  });
}

std::vector<std::filesystem::path> write_folder(
    const std::filesystem::path& folder,
    const std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)>& write) {
  namespace fs = std::filesystem;
  bool created = false;
  try {
    created = fs::create_directories(folder);
    std::vector<fs::path> files;
    {
      const Temporary other(folder / fmt::format(".{}.tmp", getpid()));
      fs::create_directory(other.path());
      files = write(other.path());
      for (const fs::path& file : files) {
        fs::create_directories((folder / file).parent_path());
        fs::rename(other.path() / file, folder / file);
      }
    }
    return files;
  } catch (const fs::filesystem_error& error) {
    fail(folder, error.code().message());
  } catch (...) {
    std::error_code ignored;
    if (created) fs::remove(folder, ignored);
    throw;
  }
}

}  // namespace headroom::report
