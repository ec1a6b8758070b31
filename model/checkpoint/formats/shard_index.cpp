#include "model/checkpoint/formats/shard_index.hpp"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <set>

namespace headroom::model {
namespace {

namespace json = boost::json;

/// Keeps weight_map and metadata.total_size; skips everything else up to its depth limit.
class IndexHandler {
 public:
  constexpr static std::size_t max_object_size = std::size_t{1} << 21;
  constexpr static std::size_t max_array_size = std::size_t{1} << 21;
  constexpr static std::size_t max_key_size = 4096;
  constexpr static std::size_t max_string_size = std::size_t{1} << 20;

  std::map<std::string, std::string> weight_map;
  Size total_size = -1;
  bool has_map = false;
  std::string complaint;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& ec) {
    path_.emplace_back();
    if (path_.size() == 2 && path_[0] == "weight_map") {
      if (has_map) return refuse(ec, "key 'weight_map' twice");
      has_map = true;
    }
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) { return path_.pop_back(), true; }
  bool on_array_begin(json::error_code&) { return path_.emplace_back(), true; }
  bool on_array_end(std::size_t, json::error_code&) { return path_.pop_back(), true; }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    path_.back() = std::move(text_);
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t, json::error_code& ec) {
    text_.append(part.data(), part.size());
    const std::string value = std::move(text_);
    text_.clear();
    if (path_.size() != 2 || path_[0] != "weight_map") return true;
    if (path_[1].empty()) return refuse(ec, "weight_map has an empty name");
    if (!weight_map.emplace(path_[1], value).second)
      return refuse(ec, fmt::format("weight_map names {} twice", shown_name(path_[1])));
    return true;
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t n, json::string_view, json::error_code& ec) { return number(n, ec); }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code& ec) { return number(-1, ec); }
  bool on_double(double n, json::string_view, json::error_code& ec) {
    // Some index files write total_size as 1.5e10 or 15000000000.0.
    const bool whole = n >= 0 && n < 9e15 && static_cast<double>(static_cast<Size>(n)) == n;
    return number(whole ? static_cast<Size>(n) : -1, ec);
  }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool number(Size n, json::error_code& ec) {
    if (path_.size() == 2 && path_[0] == "metadata" && path_[1] == "total_size") {
      if (n < 0) return refuse(ec, "metadata.total_size is not a number of bytes");
      total_size = n;
    }
    if (!path_.empty() && path_[0] == "weight_map")
      return refuse(ec, "weight_map has a number where a file name should be");
    return true;
  }
  bool refuse(json::error_code& ec, std::string what) {
    complaint = std::move(what);
    ec = json::error::incomplete;
    return false;
  }

  std::string text_;
  std::vector<std::string> path_;  ///< the key at each depth
};

void check_shard(const std::string& shard, const std::string& origin) {
  const bool plain = shard.find('/') == std::string::npos &&
                     shard.find('\\') == std::string::npos && shard.find('\0') == std::string::npos;
  if (!plain || !(shard.ends_with(".safetensors") || shard.ends_with(".bin")))
    throw FormatError(fmt::format(
        "{}: weight_map names the shard {}, expected the name of a .safetensors or .bin file",
        origin, shown_name(shard)));
}

/// "-00002-of-00005" before the ending. Empty if the name has no part number.
std::string_view part_number(std::string_view name) {
  constexpr std::size_t length = 15;
  const auto dot = std::min(name.rfind('.'), name.size());
  if (dot <= length) return {};
  const auto number = name.substr(dot - length, length);
  const auto digits = [&](std::size_t at) {
    return number.substr(at, 5).find_first_not_of("0123456789") == std::string_view::npos;
  };
  const bool is_one = number[0] == '-' && number.substr(6, 4) == "-of-" && digits(1) && digits(10);
  return is_one ? number : std::string_view{};
}

}  // namespace

std::string stem_of(std::string_view name) {
  const auto dot = std::min(name.rfind('.'), name.size());
  return std::string(name.substr(0, dot - part_number(name).size()));
}

std::vector<std::string> part_names(std::string_view name) {
  const auto number = part_number(name);
  if (number.empty()) return {std::string(name)};
  const auto count = std::stoul(std::string(number.substr(10)));
  if (count < 1 || count > max_shards)
    throw FormatError(
        fmt::format("{}: a model in {} parts, 1 to {} are read", name, count, max_shards));
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i)
    names.push_back(
        fmt::format("{}-{:05}-of-{:05}{}", stem_of(name), i, count, name.substr(name.rfind('.'))));
  return names;
}

ShardIndex parse_shard_index(std::string_view text, std::string origin) {
  if (static_cast<Size>(text.size()) > max_index)
    throw FormatError(
        fmt::format("{}: {} bytes, an index has at most {}", origin, text.size(), max_index));
  json::parse_options options;
  options.max_depth = 8;
  json::basic_parser<IndexHandler> parser(options);
  json::error_code error;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  IndexHandler& handler = parser.handler();
  if (!handler.complaint.empty()) throw FormatError(origin + ": " + handler.complaint);
  if (error) throw FormatError(fmt::format("{}: not JSON: {}", origin, error.message()));
  if (text.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
    throw FormatError(fmt::format("{}: something follows the index", origin));
  if (handler.weight_map.empty())
    throw FormatError(fmt::format("{}: no 'weight_map', or an empty one", origin));
  ShardIndex index{std::move(origin), std::move(handler.weight_map), {}, handler.total_size};
  std::set<std::string> shards;
  for (const auto& [name, shard] : index.weight_map)
    if (shards.insert(shard).second) check_shard(shard, index.origin);
  if (shards.size() > max_shards)
    throw FormatError(fmt::format("{}: weight_map names {} shards, at most {} are read",
                                  index.origin, shards.size(), max_shards));
  index.shards.assign(shards.begin(), shards.end());
  return index;
}

TensorList read_shards(const ShardIndex& index,
                       const std::function<TensorList(const std::string& shard)>& open) {
  TensorList all{index.origin, {}, Bytes(0), {}};
  std::size_t extra = 0;
  std::string first_extra;
  for (const std::string& shard : index.shards) {
    TensorList part = open(shard);
    for (TensorHeader& tensor : part.tensors) {
      const auto entry = index.weight_map.find(tensor.name);
      if (entry == index.weight_map.end() || entry->second != shard) {
        if (extra++ == 0) first_extra = shown_name(tensor.name) + " in " + shard;
        continue;
      }
      tensor.file = shard;
      all.total += tensor.bytes;
      all.tensors.push_back(std::move(tensor));
    }
  }
  std::set<std::string_view> found;
  for (const TensorHeader& tensor : all.tensors) found.insert(tensor.name);
  if (found.size() != index.weight_map.size()) {
    for (const auto& [name, shard] : index.weight_map)
      if (!found.contains(name))
        throw FormatError(
            fmt::format("{}: the tensor {} is not in {}", index.origin, shown_name(name), shard));
  }
  if (extra > 0)
    all.notes.push_back(fmt::format("{} tensors are not where the index says, or not in it: {}{}",
                                    extra, first_extra, extra > 1 ? ", ..." : ""));
  if (index.total_size >= 0 && index.total_size != all.total.count())
    all.notes.push_back(fmt::format("the index says total_size {}, the tensors have {} bytes",
                                    index.total_size, all.total.count()));
  return all;
}

}  // namespace headroom::model
