// Models in folders of the file system.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sweep/sources/model_files.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

class FolderFiles : public ModelFiles {
 public:
  explicit FolderFiles(fs::path folder) : folder_(std::move(folder)) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(here(), error))
      if (!entry.is_directory(error)) all.push_back(entry.path().filename().string());
    std::ranges::sort(all);
    return all;
  }

  bool has(std::string_view name) const override {
    std::error_code error;
    return fs::exists(folder_ / name, error) && !fs::is_directory(folder_ / name, error);
  }

  std::string origin(std::string_view name) const override { return (folder_ / name).string(); }

  std::string read(const std::string& name, Size most) const override {
    std::ifstream in(folder_ / name, std::ios::binary);
    std::string text;
    char chunk[1 << 16];
    while (in && static_cast<Size>(text.size()) <= most) {
      in.read(chunk, std::min<Size>(sizeof chunk, most + 1 - static_cast<Size>(text.size())));
      text.append(chunk, static_cast<std::size_t>(in.gcount()));
    }
    if (text.empty())
      throw std::runtime_error(fmt::format("{}: cannot be read, or is empty", origin(name)));
    return text;
  }

  BigFile open(const std::string& name) const override {
    std::error_code error;
    const auto size = fs::file_size(folder_ / name, error);  // pipes and devices have none
    if (error) throw std::runtime_error(fmt::format("{}: {}", origin(name), error.message()));
    const auto in = std::make_shared<std::ifstream>(folder_ / name, std::ios::binary);
    if (!*in) throw std::runtime_error(fmt::format("{}: cannot be read", origin(name)));
    return {static_cast<Size>(size), [in](Size offset, Size length) {
              std::string bytes(static_cast<std::size_t>(length), '\0');
              in->clear();
              in->seekg(offset);
              in->read(bytes.data(), length);
              bytes.resize(static_cast<std::size_t>(in->gcount()));
              return bytes;
            }};
  }

 private:
  fs::path here() const { return folder_.empty() ? fs::path(".") : folder_; }
  fs::path folder_;
};

}  // namespace

std::unique_ptr<ModelFiles> folder_files(fs::path folder) {
  return std::make_unique<FolderFiles>(std::move(folder));
}

}  // namespace headroom::sweep
