#include "model/checkpoint/formats/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "hardware/units.hpp"
#include "model/checkpoint/formats/gguf_reader.hpp"
#include "model/checkpoint/formats/gguf_types.hpp"

namespace headroom::model {
namespace {

constexpr Size longest_key = 65535, longest_name = 64, max_dims = 4;
constexpr Size longest_kept_string = 65536;
constexpr std::uint64_t max_values = 65536;
constexpr std::uint32_t string_type = 8, list_type = 9;

/// Bytes of one value of a scalar type; 0 for strings, lists and unknown types.
Size scalar_bytes(std::uint32_t type) {
  constexpr Size bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(bytes) ? bytes[type] : 0;
}

bool is_whole(std::uint32_t type) { return scalar_bytes(type) > 0 && type != 6 && type != 12; }

template <class T>
T as(std::string_view raw) {
  T value;
  std::memcpy(&value, raw.data(), sizeof value);
  return value;
}

GgufValue scalar(GgufReader& in, std::uint32_t type) {
  const Size n = scalar_bytes(type);
  if (n == 0) in.fail(fmt::format("a value of the unknown type {}", type));
  const std::string_view raw = in.take(static_cast<std::uint64_t>(n), "a value");
  switch (type) {
    case 0:
    case 7:
      return std::int64_t{as<std::uint8_t>(raw)};
    case 1:
      return std::int64_t{as<std::int8_t>(raw)};
    case 2:
      return std::int64_t{as<std::uint16_t>(raw)};
    case 3:
      return std::int64_t{as<std::int16_t>(raw)};
    case 4:
      return std::int64_t{as<std::uint32_t>(raw)};
    case 5:
      return std::int64_t{as<std::int32_t>(raw)};
    case 6:
      return double{as<float>(raw)};
    case 10:
      return static_cast<std::int64_t>(std::min<std::uint64_t>(as<std::uint64_t>(raw), INT64_MAX));
    case 11:
      return as<std::int64_t>(raw);
    default:
      return as<double>(raw);
  }
}

/// Skips a list, and keeps short lists of whole numbers.
GgufList list(GgufReader& in) {
  const std::uint32_t type = in.u32("a list's type");
  const std::uint64_t n = in.u64("a list's length");
  if (n > static_cast<std::uint64_t>(INT64_MAX / 8)) in.fail(fmt::format("a list of {} values", n));
  GgufList kept{static_cast<Size>(n)};
  if (type == string_type) {
    for (std::uint64_t i = 0; i < n; ++i) in.take(in.u64("a string's length"), "a string");
  } else if (is_whole(type) && n <= static_cast<std::uint64_t>(max_kept_numbers)) {
    for (std::uint64_t i = 0; i < n; ++i)
      kept.numbers.push_back(std::get<std::int64_t>(scalar(in, type)));
  } else if (scalar_bytes(type) > 0) {
    in.take(n * static_cast<std::uint64_t>(scalar_bytes(type)), "a list");
  } else {
    in.fail(fmt::format("a list of the type {}; lists of lists are not read", type));
  }
  return kept;
}

void read_values(GgufReader& in, std::uint64_t count, GgufHeader& header) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key(in.text(longest_key, "a key"));
    const std::uint32_t type = in.u32("a value's type");
    GgufValue value;
    if (type == string_type) {
      const auto text = in.take(in.u64("a string's length"), "a string");
      value = std::string(text.substr(0, static_cast<std::size_t>(longest_kept_string)));
    } else {
      value = type == list_type ? GgufValue(list(in)) : scalar(in, type);
    }
    if (!header.values.emplace(key, std::move(value)).second)
      in.fail(fmt::format("the key {} twice", shown_name(key)));
  }
}

struct Placed {
  std::size_t tensor;
  Size begin, end;
};

/// A tensor description. Its offset is relative to the data.
Placed read_tensor(GgufReader& in, const std::string& origin, std::vector<TensorHeader>& tensors) {
  TensorHeader tensor;
  tensor.name = std::string(in.text(longest_name, "a tensor's name"));
  const std::string name = shown_name(tensor.name);
  const std::uint32_t dims = in.u32("a number of dimensions");
  if (dims > static_cast<std::uint32_t>(max_dims))
    in.fail(
        fmt::format("tensor {} has {} dimensions, at most {} are allowed", name, dims, max_dims));
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::uint64_t size = in.u64("a dimension");
    if (size > static_cast<std::uint64_t>(INT64_MAX))
      in.fail(fmt::format("tensor {} has a dimension of {}", name, size));
    tensor.shape.insert(tensor.shape.begin(), static_cast<Size>(size));
  }
  const std::uint32_t id = in.u32("a tensor's type");
  const GgufType* type = gguf_type(id);
  if (type == nullptr) in.fail(fmt::format("tensor {} has the unknown type {}", name, id));
  tensor.dtype = type->name;
  const Size elements = checked_elements(tensor.shape, origin, tensor.name);
  const Size row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % type->block_elements != 0)
    in.fail(fmt::format("tensor {} has rows of {}, which blocks of {} ({}) do not divide", name,
                        row, type->block_elements, type->name));
  Size bytes = 0;
  const Size rows = row == 0 ? 0 : elements / row;
  Size scales = 0;
  if (__builtin_mul_overflow(elements / type->block_elements, type->block_bytes, &bytes) ||
      __builtin_mul_overflow(rows, type->row_bytes, &scales) ||
      __builtin_add_overflow(bytes, scales, &bytes))
    in.fail(fmt::format("tensor {} has more than 2^63 - 1 bytes", name));
  tensor.bytes = Bytes(bytes);
  const std::uint64_t offset = in.u64("a tensor's offset");
  Size end = 0;
  if (offset > static_cast<std::uint64_t>(INT64_MAX) ||
      __builtin_add_overflow(static_cast<Size>(offset), bytes, &end))
    in.fail(fmt::format("tensor {} is at offset {}", name, offset));
  tensors.push_back(std::move(tensor));
  return {tensors.size() - 1, static_cast<Size>(offset), end};
}

void check_places(const GgufReader& in, std::vector<Placed>& places, const TensorList& tensors,
                  Size data_begin, Size alignment, Size file_size) {
  std::sort(places.begin(), places.end(),
            [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
  Size end = 0;
  for (const Placed& place : places) {
    const std::string name = shown_name(tensors.tensors[place.tensor].name);
    if (place.begin % alignment != 0)
      in.fail(fmt::format("tensor {} is at offset {}, expected a multiple of {}", name, place.begin,
                          alignment));
    if (place.begin < end)
      in.fail(fmt::format("tensor {} is at offset {}, within another that ends at {}", name,
                          place.begin, end));
    if (file_size >= 0 && place.end > file_size - data_begin)
      in.fail(fmt::format("tensor {} ends at byte {} of {} bytes of data", name, place.end,
                          std::max<Size>(file_size - data_begin, 0)));
    end = place.end;
  }
}

GgufHeader parse(GgufReader& in, Size file_size, std::string origin) {
  if (in.take(4, "the magic") != "GGUF") in.fail("not a GGUF file: its first bytes are not 'GGUF'");
  GgufHeader header;
  header.version = in.u32("the version");
  if (header.version != 2 && header.version != 3)
    in.fail(header.version != 0 && header.version % 65536 == 0
                ? "a big-endian file; only little-endian ones are read"
                : fmt::format("version {}; 2 and 3 are read", header.version));
  const std::uint64_t tensor_count = in.u64("the number of tensors");
  const std::uint64_t value_count = in.u64("the number of keys");
  // A description takes at least 24 bytes, a value 13. A count that the file cannot hold is an
  // error.
  const auto room = static_cast<std::uint64_t>(file_size < 0 ? max_gguf_header : file_size);
  if (tensor_count > std::min(room / 24, std::uint64_t{1} << 20))
    in.fail(fmt::format("{} tensors do not fit in {} bytes", tensor_count, room));
  if (value_count > std::min(room / 13, max_values))
    in.fail(fmt::format("{} keys, at most {} are read in {} bytes", value_count, max_values, room));
  read_values(in, value_count, header);
  header.list.origin = origin;
  std::vector<Placed> places;
  std::unordered_set<std::string> names;
  for (std::uint64_t i = 0; i < tensor_count; ++i) {
    places.push_back(read_tensor(in, origin, header.list.tensors));
    header.list.total += header.list.tensors.back().bytes;
    if (!names.insert(header.list.tensors.back().name).second)
      in.fail(fmt::format("tensor {} twice", shown_name(header.list.tensors.back().name)));
  }
  const Size alignment = header.number("general.alignment", 32);
  if (alignment <= 0 || alignment > 65536 || (alignment & (alignment - 1)) != 0)
    in.fail(fmt::format("general.alignment is {}, expected a power of two", alignment));
  header.header_bytes = round_up(in.position(), alignment);
  check_places(in, places, header.list, header.header_bytes, alignment, file_size);
  header.split_number = header.number("split.no", 0);
  header.split_count = std::max<Size>(header.number("split.count", 1), 1);
  header.split_tensors = header.number("split.tensors.count", -1);
  if (header.split_number < 0 || header.split_number >= header.split_count)
    in.fail(fmt::format("split {} of {}", header.split_number, header.split_count));
  return header;
}

}  // namespace

Size GgufHeader::number(std::string_view key, Size fallback) const {
  const auto it = values.find(std::string(key));
  if (it == values.end()) return fallback;
  if (const auto* elements = std::get_if<GgufList>(&it->second)) return elements->length;
  const auto* n = std::get_if<std::int64_t>(&it->second);
  return n != nullptr ? *n : fallback;
}

std::string GgufHeader::text(std::string_view key) const {
  const auto it = values.find(std::string(key));
  const auto* text = it == values.end() ? nullptr : std::get_if<std::string>(&it->second);
  return text != nullptr ? *text : "";
}

std::optional<GgufHeader> parse_gguf(std::string_view prefix, Size file_size, std::string origin) {
  GgufReader in(prefix, file_size, origin);
  try {
    return parse(in, file_size, origin);
  } catch (const std::overflow_error&) {
    in.fail("the tensors together have more than 2^63 - 1 bytes");
  } catch (const EndOfPrefix&) {
    const auto read = static_cast<Size>(prefix.size());
    if (file_size >= 0 && read >= file_size)
      in.fail(fmt::format("the file ends within its header, at byte {}", read));
    if (read >= max_gguf_header)
      in.fail(fmt::format("a header of more than {} bytes", max_gguf_header));
    return std::nullopt;
  }
}

GgufHeader read_gguf(const ReadRange& read, Size file_size, std::string origin) {
  std::string prefix;
  for (Size want = Size{1} << 20;; want *= 2) {
    const auto have = static_cast<Size>(prefix.size());
    want = std::min(want, file_size < 0 ? max_gguf_header : std::min(file_size, max_gguf_header));
    if (want > have) prefix += read(have, want - have);
    const auto now = static_cast<Size>(prefix.size());
    if (auto header = parse_gguf(prefix, now < want ? now : file_size, origin)) return *header;
  }
}

}  // namespace headroom::model
