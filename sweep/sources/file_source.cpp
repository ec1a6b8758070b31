// Models from the file system: a config, the files of a checkpoint, or a folder that has them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hardware/names.hpp"
#include "model/checkpoint/formats/shard_index.hpp"
#include "sweep/sources/model_from_files.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// True if a name can only be a file's, by its beginning, or by the ending of a name with one part.
bool is_path(std::string_view name) {
  constexpr std::string_view beginnings[] = {"/", "./", "../"};
  constexpr std::string_view endings[] = {".gguf", ".safetensors", ".bin"};
  return name.ends_with(".json") ||
         std::ranges::any_of(beginnings, [&](auto begin) { return name.starts_with(begin); }) ||
         (name.find('/') == name.npos &&
          std::ranges::any_of(endings, [&](auto end) { return name.ends_with(end); }));
}

class FileSource : public ModelSource {
 public:
  std::optional<model::Model> find(const ModelReference& reference) const override {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path = reference.name;
    const bool folder = fs::is_directory(path, error);
    if (!folder && !fs::exists(path, error)) {
      if (is_path(reference.name))
        throw std::runtime_error(fmt::format(
            "{}: no such file or folder; a MODEL is a config.json, a .safetensors or .gguf file, a "
            "folder with one, or a name (`headroom models list`)",
            reference.name));
      return std::nullopt;
    }
    const auto files = folder_files(folder ? path : path.parent_path());
    FileRequest request{name_of(reference.name, folder), reference.name};
    if (!folder) request.file = path.filename().string();
    request.overrides = reference.overrides;
    auto found = model_from_files(*files, request);
    if (!found && folder)
      throw UnknownName(fmt::format(
          "{}: a folder without a model: no config.json, .safetensors or .gguf file in it",
          reference.name));
    if (found) found->repository = weights_of(path, folder);
    return found;
  }

 private:
  /// The path that an engine is given: of a GGUF file, or of the folder of a checkpoint.
  static std::string weights_of(const std::filesystem::path& path, bool folder) {
    if (folder || path.extension() == ".gguf") return path.string();
    return path.has_parent_path() ? path.parent_path().string() : ".";
  }
  /// The folder that the config or checkpoint is in, or the file's own name where that is not one
  /// that every model has.
  static std::string name_of(const std::string& text, bool folder) {
    std::filesystem::path path = std::filesystem::path(text).lexically_normal();
    const std::string file = path.filename().string(), stem = model::stem_of(file);
    const std::string whole = stem + path.extension().string();  // without the number of a shard
    constexpr std::string_view usual[] = {"config.json", "model.safetensors",
                                          "model.safetensors.index.json", "pytorch_model.bin",
                                          "pytorch_model.bin.index.json"};
    if (!folder && std::ranges::find(usual, whole) != std::end(usual))
      path = path.parent_path();
    else if (!folder)
      return model_name(file.ends_with(".gguf") ? stem : file);
    if (path.filename().empty()) path = path.parent_path();
    const std::string name = path.filename().string();
    return name.empty() || name == "." || name == ".." ? text : name;
  }
};

}  // namespace

std::unique_ptr<ModelSource> file_source() { return std::make_unique<FileSource>(); }

}  // namespace headroom::sweep
