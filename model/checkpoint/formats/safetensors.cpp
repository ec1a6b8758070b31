#include "model/checkpoint/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <optional>
#include <unordered_set>

namespace headroom::model {
namespace {

namespace json = boost::json;

struct SafetensorsType {
  std::string_view name;
  Size bits;
};
/// Source: safetensors/src/tensor.rs, enum Dtype.
constexpr auto safetensors_types = std::to_array<SafetensorsType>({
    {"BOOL", 8},    {"U8", 8},   {"I8", 8},   {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"I16", 16}, {"U16", 16}, {"F16", 16},    {"BF16", 16},
    {"I32", 32},    {"U32", 32}, {"F32", 32}, {"I64", 64},    {"U64", 64},
    {"F64", 64},    {"C64", 64}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
});

struct Entry {
  TensorHeader tensor;
  Size begin = 0, end = 0, bits = 0;
};

/// Handles the events of the JSON parser. Depth 1 has names; below are "dtype", "shape" and
/// "data_offsets". Strings in "__metadata__" are skipped. The first error is kept and stops the
/// parser.
class HeaderHandler {
 public:
  constexpr static std::size_t max_object_size = static_cast<std::size_t>(max_tensors);
  constexpr static std::size_t max_array_size = 64;
  constexpr static std::size_t max_key_size = 4096;
  constexpr static std::size_t max_string_size = std::size_t{1} << 26;

  std::vector<Entry> entries;
  std::string complaint;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& ec) {
    if (in_array_ || depth_ == 2) return refuse(ec, "an object where a value should be");
    ++depth_;
    if (depth_ == 2 && !in_metadata_) entries.emplace_back().tensor.name = name_;
    return true;
  }
  bool on_object_end(std::size_t, json::error_code& ec) {
    if (depth_ == 2 && !in_metadata_) {
      if (!has_dtype_ || !has_shape_ || !has_offsets_)
        return refuse(ec, "lacks one of dtype, shape and data_offsets");
      has_dtype_ = has_shape_ = has_offsets_ = false;
    }
    --depth_;
    return true;
  }
  bool on_array_begin(json::error_code& ec) {
    if (in_array_ || depth_ != 2 || in_metadata_ || (key_ != "shape" && key_ != "data_offsets"))
      return refuse(ec, "a list where none should be");
    in_array_ = true;
    numbers_.clear();
    return true;
  }
  bool on_array_end(std::size_t, json::error_code& ec) {
    in_array_ = false;
    Entry& entry = entries.back();
    if (key_ == "shape") {
      entry.tensor.shape = numbers_;
      has_shape_ = true;
    } else {
      if (numbers_.size() != 2) return refuse(ec, "data_offsets are not two numbers");
      entry.begin = numbers_[0];
      entry.end = numbers_[1];
      has_offsets_ = true;
    }
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code& ec) {
    text_.append(part.data(), part.size());
    if (depth_ == 1) {
      name_ = std::move(text_);
      in_metadata_ = name_ == "__metadata__";
      if (!names_.insert(name_).second) return refuse(ec, "named twice");
    } else {
      key_ = std::move(text_);
      const bool twice = (key_ == "dtype" && has_dtype_) || (key_ == "shape" && has_shape_) ||
                         (key_ == "data_offsets" && has_offsets_);
      const bool known = key_ == "dtype" || key_ == "shape" || key_ == "data_offsets";
      if (!in_metadata_ && (twice || !known))
        return refuse(ec, fmt::format("key {} {}", shown_name(key_), twice ? "twice" : "unknown"));
    }
    text_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
    if (!in_metadata_) text_.append(part.data(), part.size());
    return true;
  }
  bool on_string(json::string_view part, std::size_t n, json::error_code& ec) {
    on_string_part(part, n, ec);
    const std::string value = std::move(text_);
    text_.clear();
    if (in_metadata_ && depth_ == 2) return true;
    if (depth_ != 2 || in_array_ || key_ != "dtype")
      return refuse(ec, "a string where none should be");
    for (const SafetensorsType& type : safetensors_types)
      if (type.name == value) {
        entries.back().tensor.dtype = type.name;
        entries.back().bits = type.bits;
        has_dtype_ = true;
        return true;
      }
    return refuse(ec, fmt::format("unknown dtype {}", shown_name(value)));
  }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t n, json::string_view, json::error_code& ec) {
    if (!in_array_ || n < 0) return refuse(ec, "a number that is negative or out of place");
    numbers_.push_back(n);
    return true;
  }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code& ec) {
    return refuse(ec, "a number beyond 2^63 - 1");
  }
  bool on_double(double, json::string_view, json::error_code& ec) {
    return refuse(ec, "a number that is not whole");
  }
  bool on_bool(bool, json::error_code& ec) { return refuse(ec, "true or false out of place"); }
  bool on_null(json::error_code& ec) { return refuse(ec, "null out of place"); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool refuse(json::error_code& ec, const std::string& what) {
    complaint = name_.empty() ? what : fmt::format("tensor {}: {}", shown_name(name_), what);
    ec = json::error::incomplete;
    return false;
  }

  std::string text_, name_, key_;
  std::unordered_set<std::string> names_;
  Shape numbers_;
  int depth_ = 0;
  bool in_array_ = false, in_metadata_ = false;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

/// Offsets must match the shapes' bytes and be contiguous from 0 to `data_size`.
void check_layout(std::vector<Entry>& entries, Size data_size, const std::string& origin) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  Size expected = 0;
  for (Entry& entry : entries) {
    const std::string name = shown_name(entry.tensor.name);
    entry.tensor.bytes = checked_bytes(entry.tensor.shape, entry.bits, origin, entry.tensor.name);
    if (entry.end > data_size)
      throw FormatError(fmt::format("{}: tensor {} ends at byte {} of {} bytes of data", origin,
                                    name, entry.end, data_size));
    if (entry.begin != expected)
      throw FormatError(fmt::format("{}: tensor {} begins at byte {}, expected {} ({})", origin,
                                    name, entry.begin, expected,
                                    entry.begin < expected ? "an overlap" : "a hole"));
    if (entry.end - entry.begin != entry.tensor.bytes.count())
      throw FormatError(fmt::format("{}: tensor {} has offsets of {} bytes and a shape of {}",
                                    origin, name, entry.end - entry.begin,
                                    entry.tensor.bytes.count()));
    expected = entry.end;
  }
  if (expected != data_size)
    throw FormatError(
        fmt::format("{}: {} bytes of data, the tensors end at {}", origin, data_size, expected));
}

}  // namespace

Size safetensors_header_length(std::string_view first_bytes, Size file_size,
                               std::string_view origin) {
  if (first_bytes.size() < 8 || file_size < 8)
    throw FormatError(
        fmt::format("{}: a size of {} B is too little for a safetensors file", origin,
                    std::min<Size>(file_size, static_cast<Size>(first_bytes.size()))));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(first_bytes[i]);
  if (length > static_cast<std::uint64_t>(max_safetensors_header))
    throw FormatError(fmt::format("{}: a header of {} bytes, a safetensors file has at most {}",
                                  origin, length, max_safetensors_header));
  if (static_cast<Size>(length) > file_size - 8)
    throw FormatError(
        fmt::format("{}: a header of {} bytes in a file of {}", origin, length, file_size));
  return static_cast<Size>(length);
}

TensorList parse_safetensors(std::string_view header, Size data_size, std::string origin) {
  if (static_cast<Size>(header.size()) > max_safetensors_header)
    throw FormatError(fmt::format("{}: a header of {} bytes, a safetensors file has at most {}",
                                  origin, header.size(), max_safetensors_header));
  if (header.empty() || header.front() != '{')
    throw FormatError(fmt::format("{}: the header does not begin with '{{'", origin));
  json::parse_options options;
  options.max_depth = 4;
  json::basic_parser<HeaderHandler> parser(options);
  json::error_code error;
  const std::size_t used = parser.write_some(false, header.data(), header.size(), error);
  const HeaderHandler& handler = parser.handler();
  if (!handler.complaint.empty()) throw FormatError(origin + ": " + handler.complaint);
  if (error) throw FormatError(fmt::format("{}: header: {}", origin, error.message()));
  if (header.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
    throw FormatError(fmt::format("{}: something follows the header's object", origin));
  TensorList list{std::move(origin), {}, Bytes(data_size), {}};
  std::vector<Entry> entries = std::move(parser.handler().entries);
  check_layout(entries, data_size, list.origin);
  list.tensors.reserve(entries.size());
  for (Entry& entry : entries) list.tensors.push_back(std::move(entry.tensor));
  return list;
}

TensorList read_safetensors(const ReadRange& read, Size file_size, std::string origin) {
  const Size length = safetensors_header_length(read(0, 8), file_size, origin);
  const std::string header = read(8, length);
  if (static_cast<Size>(header.size()) != length)
    throw FormatError(fmt::format("{}: {} bytes of a header of {}", origin, header.size(), length));
  return parse_safetensors(header, file_size - 8 - length, std::move(origin));
}

}  // namespace headroom::model
