// Joins the headers of a model split into several GGUF files.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/checkpoint/formats/gguf.hpp"

namespace headroom::model {

GgufHeader join_gguf(std::vector<GgufHeader> parts) {
  if (parts.empty()) throw FormatError("no parts of a GGUF file");
  std::sort(parts.begin(), parts.end(), [](const GgufHeader& a, const GgufHeader& b) {
    return a.split_number < b.split_number;
  });
  GgufHeader all = std::move(parts.front());
  std::set<std::string> names;
  for (const TensorHeader& tensor : all.list.tensors) names.insert(tensor.name);
  const std::string& origin = all.list.origin;
  if (all.split_count != static_cast<Size>(parts.size()))
    throw FormatError(fmt::format("{}: {} parts of {}", origin, parts.size(), all.split_count));
  if (all.split_number != 0) throw FormatError(fmt::format("{}: part 1 is missing", origin));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    GgufHeader& part = parts[i];
    if (part.split_count != all.split_count)
      throw FormatError(fmt::format("{}: says {} parts, {} says {}", part.list.origin,
                                    part.split_count, origin, all.split_count));
    if (part.split_number != static_cast<Size>(i))
      throw FormatError(fmt::format("{}: part {} is missing or there twice", origin, i + 1));
    for (TensorHeader& tensor : part.list.tensors) {
      if (!names.insert(tensor.name).second)
        throw FormatError(fmt::format("{}: tensor {} is in two parts", part.list.origin,
                                      shown_name(tensor.name)));
      tensor.file = part.list.origin;
      all.list.total += tensor.bytes;
      all.list.tensors.push_back(std::move(tensor));
    }
  }
  if (all.split_tensors >= 0 && all.split_tensors != static_cast<Size>(all.list.tensors.size()))
    throw FormatError(
        fmt::format("{}: the parts have {} tensors together, split.tensors.count says {}", origin,
                    all.list.tensors.size(), all.split_tensors));
  return all;
}

}  // namespace headroom::model
