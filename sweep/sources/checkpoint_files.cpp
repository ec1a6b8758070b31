#include "sweep/sources/checkpoint_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "model/checkpoint/formats/safetensors.hpp"
#include "model/checkpoint/formats/shard_index.hpp"

namespace headroom::sweep {
namespace {

using model::Detail;
using model::FormatError;
using model::TensorList;

/// Pointer that git leaves in place of a large file that was not fetched.
void refuse_pointer(const BigFile& file, const std::string& origin) {
  constexpr Size longest = 1024;
  if (file.size <= longest && file.read(0, 64).starts_with("version https://git-lfs"))
    throw FormatError(
        fmt::format("{}: a Git LFS pointer instead of the file; 'git lfs pull' fetches it, or give "
                    "config.json alone",
                    origin));
}

BigFile open(const ModelFiles& files, const std::string& name, const std::string& needed_by) {
  if (!files.has(name))
    throw FormatError(fmt::format(
        "{}: no such file{}; fetch every part into one folder, or give "
        "config.json alone",
        files.origin(name), needed_by.empty() ? "" : ", which " + needed_by + " names"));
  BigFile file = files.open(name);
  refuse_pointer(file, files.origin(name));
  return file;
}

TensorList read_safetensors(const ModelFiles& files, const std::string& name,
                            const std::string& needed_by = {}) {
  const BigFile file = open(files, name, needed_by);
  return model::read_safetensors(file.read, file.size, files.origin(name));
}

/// Shards without an index: every tensor is in one of them.
Headers read_parts(const ModelFiles& files, const std::vector<std::string>& names) {
  Headers headers{.list = {files.origin(names.front()), {}, Bytes(0), {}}, .source = {}};
  std::set<std::string> seen;
  files.expect(names);
  for (const std::string& name : names) {
    TensorList part = read_safetensors(files, name, names.size() > 1 ? "the model" : "");
    headers.list.total += part.total;
    for (model::TensorHeader& tensor : part.tensors) {
      if (!seen.insert(tensor.name).second)
        throw FormatError(fmt::format("{}: tensor {} is in another part too", part.origin,
                                      model::shown_name(tensor.name)));
      if (names.size() > 1) tensor.file = name;
      headers.list.tensors.push_back(std::move(tensor));
    }
  }
  headers.source = names.size() == 1 ? fmt::format("the header of {}", headers.list.origin)
                                     : fmt::format("the headers of {} and {} more",
                                                   headers.list.origin, names.size() - 1);
  return headers;
}

/// Names and bytes as the index says, without any of the files that it names.
Headers read_names(const model::ShardIndex& index) {
  Headers headers{.detail = Detail::names,
                  .list = {index.origin, {}, Bytes(index.total_size), {}},
                  .source = fmt::format("the names and total_size in {}, without its {} files",
                                        index.origin, index.shards.size())};
  for (const auto& [name, shard] : index.weight_map)
    headers.list.tensors.push_back({name, {}, {}, Bytes(0), shard});
  return headers;
}

/// Names from the index; bytes as it says, else the sizes of the files that are there.
Headers read_pickled(const ModelFiles& files, const model::ShardIndex& index) {
  Headers headers{.detail = Detail::names, .list = {index.origin, {}, Bytes(0), {}}, .source = {}};
  for (const auto& [name, shard] : index.weight_map)
    headers.list.tensors.push_back({name, {}, {}, Bytes(0), shard});
  Bytes on_disk;
  for (const std::string& shard : index.shards)
    on_disk += Bytes(open(files, shard, index.origin).size);
  headers.list.total = index.total_size >= 0 ? Bytes(index.total_size) : on_disk;
  if (index.total_size > on_disk.count())
    headers.list.notes.push_back(fmt::format("the index says total_size {}, the files have {}",
                                             index.total_size, on_disk.count()));
  headers.source = fmt::format("the names in {} and {}", index.origin,
                               index.total_size >= 0 ? "its total_size" : "the sizes of the files");
  return headers;
}

Headers read_index(const ModelFiles& files, const std::string& file) {
  const auto index =
      model::parse_shard_index(files.read(file, model::max_index), files.origin(file));
  files.expect(index.shards);
  if (index.total_size >= 0 && std::ranges::none_of(index.shards, [&](const std::string& shard) {
        return files.has(shard);
      }))
    return read_names(index);
  const auto pickled = [](const std::string& shard) { return shard.ends_with(".bin"); };
  if (std::ranges::all_of(index.shards, pickled)) return read_pickled(files, index);
  if (std::ranges::any_of(index.shards, pickled))
    throw FormatError(
        fmt::format("{}: weight_map names .safetensors and .bin files together", index.origin));
  Headers headers{.list = model::read_shards(index,
                                             [&](const std::string& shard) {
                                               return read_safetensors(files, shard, index.origin);
                                             }),
                  .source = {}};
  headers.source =
      fmt::format("the headers of {} files that {} names", index.shards.size(), index.origin);
  return headers;
}

/// With an index in its folder, a shard stands for all shards of the index; otherwise for all
/// numbered parts.
Headers read_tensors(const ModelFiles& files, const std::string& file) {
  const auto names = model::part_names(file);
  const auto index = model::stem_of(file) + ".safetensors.index.json";
  if (names.size() > 1 && files.has(index)) return read_index(files, index);
  return read_parts(files, names);
}

Headers read_gguf(const ModelFiles& files, const std::string& file) {
  std::vector<model::GgufHeader> parts;
  const auto names = model::part_names(file);
  files.expect(names);
  for (const std::string& name : names) {
    const BigFile big = open(files, name, names.size() > 1 ? "the model" : "");
    parts.push_back(model::read_gguf(big.read, big.size, files.origin(name)));
  }
  if (names.size() == 1 && parts.front().split_count > 1)
    throw FormatError(fmt::format(
        "{}: part {} of {}, and its name does not say the others': expected NAME-00001-of-{:05}"
        ".gguf",
        files.origin(file), parts.front().split_number + 1, parts.front().split_count,
        parts.front().split_count));
  Headers headers{.list = {}, .gguf = model::join_gguf(std::move(parts)), .source = {}};
  headers.list = std::move(headers.gguf->list);
  headers.source = names.size() == 1 ? fmt::format("the header of {}", files.origin(file))
                                     : fmt::format("the headers of {} and its {} other parts",
                                                   files.origin(names.front()), names.size() - 1);
  return headers;
}

Headers read_size(const ModelFiles& files, const std::string& file) {
  const BigFile big = open(files, file, "");
  if (big.size == 0) throw FormatError(files.origin(file) + ": is empty");
  return {.detail = Detail::size,
          .list = {files.origin(file), {}, Bytes(big.size), {}},
          .source =
              fmt::format("the size of {}; only Python can list its tensors", files.origin(file))};
}

/// The one model with that ending, its parts taken together; nothing where there is none.
std::optional<std::string> only_one(const ModelFiles& files, std::string_view ending) {
  std::vector<std::string> stems, first;
  for (const std::string& name : files.names()) {
    if (!name.ends_with(ending) || std::ranges::count(stems, model::stem_of(name)) > 0) continue;
    stems.push_back(model::stem_of(name));
    first.push_back(name);
  }
  if (first.empty()) return std::nullopt;
  if (first.size() > 1)
    throw FormatError(fmt::format("{}: {} models; name one of them: {}{}", files.origin(""),
                                  first.size(), fmt::join(first | std::views::take(12), ", "),
                                  first.size() > 12 ? ", …" : ""));
  return first.front();
}

/// The first of shards that no index names ("model-00001-of-00003.safetensors"): the parts of one
/// model, where there is one such.
std::optional<std::string> only_shards(const ModelFiles& files) {
  std::optional<std::string> first;
  for (const std::string& name : files.names()) {
    if (!name.ends_with(".safetensors") || model::part_names(name).size() < 2) continue;
    if (first && model::stem_of(*first) != model::stem_of(name)) return std::nullopt;
    if (!first) first = name;
  }
  return first;
}

}  // namespace

FileKind kind_of(std::string_view name) {
  if (name.ends_with(".index.json")) return FileKind::index;
  if (name.ends_with(".json")) return FileKind::config;
  if (name.ends_with(".safetensors")) return FileKind::safetensors;
  if (name.ends_with(".gguf")) return FileKind::gguf;
  for (const std::string_view ending : {".bin", ".pt", ".pth", ".ckpt"})
    if (name.ends_with(ending)) return FileKind::pickle;
  return FileKind::unknown;
}

std::optional<std::string> checkpoint_file(const ModelFiles& files) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                           "pytorch_model.bin.index.json"})
    if (files.has(name)) return name;
  if (auto shards = only_shards(files)) return shards;
  if (files.has("config.json")) return std::nullopt;  // others are of something else: adapters
  for (const std::string_view ending : {".safetensors", ".gguf"})
    if (auto found = only_one(files, ending)) return found;
  return std::nullopt;
}

Headers read_headers(const ModelFiles& files, const std::string& file) {
  switch (kind_of(file)) {
    case FileKind::index:
      return read_index(files, file);
    case FileKind::safetensors:
      return read_tensors(files, file);
    case FileKind::gguf:
      return read_gguf(files, file);
    case FileKind::pickle:
      return read_size(files, file);
    default:
      throw FormatError(fmt::format(
          "{}: expected a config.json, a .safetensors or .gguf file, an .index.json or a .bin",
          files.origin(file)));
  }
}

}  // namespace headroom::sweep
