#include "model/checkpoint/formats/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "model/checkpoint/formats/logical.hpp"

namespace headroom::model {
namespace {

/// The stacked name: "mlp.experts.gate_up_proj" for "mlp.experts.7.w1.weight".
std::optional<std::string> stacked_name(const std::string& name) {
  const auto at = name.find("experts.");
  if (at == std::string::npos) return std::nullopt;
  const auto number = at + 8;
  auto end = number;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  if (end == number || end == name.size() || name[end] != '.') return std::nullopt;
  std::string word = name.substr(end + 1);
  for (const std::string_view tail : {".weight", ".qweight", ".weight_packed"})
    if (word.ends_with(tail)) word.resize(word.size() - tail.size());
  if (word == "gate_proj" || word == "up_proj" || word == "w1" || word == "w3")
    word = "gate_up_proj";
  if (word == "w2") word = "down_proj";
  return name.substr(0, number) + word;
}

/// The name without the suffix of packing: "….weight" for "….qweight". Also converts norm names of
/// old BERT checkpoints, as transformers does at load time.
std::string plain_name(std::string name) {
  if (name.ends_with("LayerNorm.gamma")) return name.substr(0, name.size() - 5) + "weight";
  if (name.ends_with("LayerNorm.beta")) return name.substr(0, name.size() - 4) + "bias";
  for (const std::string_view tail : {".qweight", ".weight_packed"})
    if (name.ends_with(tail)) return name.substr(0, name.size() - tail.size()) + ".weight";
  if (name.ends_with("_blocks")) name.resize(name.size() - 7);
  return name;
}

bool is_gate(std::string_view name) {
  return name.find(".gate_proj") != std::string_view::npos ||
         name.find(".w1") != std::string_view::npos;
}

std::string_view module_of(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

/// Finds the row of a weight's companions by the names that they are derived from.
class Owners {
 public:
  void add(std::string_view name, std::size_t row) {
    rows_.emplace(name, row);
    const std::string_view module = module_of(name);
    if (!module.empty() && !name.ends_with(".bias")) rows_.emplace(module, row);
  }
  std::optional<std::size_t> of(std::string_view companion) const {
    if (companion.ends_with("_scales"))  // next to "…_blocks", without a dot
      if (const auto row = at(std::string(companion.substr(0, companion.size() - 6)) + "blocks"))
        return row;
    for (auto name = module_of(companion); !name.empty(); name = module_of(name)) {
      if (const auto row = at(std::string(name))) return row;
      // "….weight.absmax": an additional word
      if (name.find("weight") == std::string_view::npos) break;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::size_t> at(const std::string& name) const {
    const auto it = rows_.find(name);
    return it == rows_.end() ? std::nullopt : std::optional(it->second);
  }
  std::unordered_map<std::string, std::size_t> rows_;
};

}  // namespace

void add_part(Gathered& g, const TensorHeader& tensor, Size elements) {
  if (tensor.dtype.empty() || g.elements < 0)
    g.elements = -1;
  else if (__builtin_add_overflow(g.elements, elements, &g.elements))
    throw FormatError(fmt::format("{}: more than 2^63 - 1 elements with what belongs to it",
                                  shown_name(tensor.name)));
  if (g.dtype.empty() || tensor.bytes > g.bytes) g.dtype = tensor.dtype;
  g.bytes += tensor.bytes;
  if (g.source.empty()) g.source = tensor.name;
}

std::vector<Gathered> gather(const TensorList& list) {
  const std::vector<LogicalCount> counts = logical_counts(list);
  std::vector<Gathered> all;
  std::unordered_map<std::string, std::size_t> stacks;
  std::set<std::size_t> gated;
  Owners owners;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TensorHeader& tensor = list.tensors[i];
    if (counts[i].elements == 0) continue;
    const auto stack = stacked_name(tensor.name);
    const auto [it, fresh] =
        stack ? stacks.emplace(*stack, all.size()) : std::pair{stacks.end(), true};
    const std::size_t row = stack ? it->second : all.size();
    if (fresh) all.push_back({.name = stack ? *stack : plain_name(tensor.name), .parts = 0});
    Gathered& g = all[row];
    add_part(g, tensor, counts[i].elements);
    ++g.parts;
    g.assumed = g.assumed || counts[i].assumed;
    g.packed = stack || counts[i].elements != tensor.elements();
    if (!stack) g.shape = tensor.shape;
    if (stack && is_gate(tensor.name)) gated.insert(row);
    owners.add(tensor.name, row);
  }
  for (const auto& [name, at] : stacks)  // experts without a gate keep the name of their only input
    if (name.ends_with("gate_up_proj") && !gated.contains(at))
      all[at].name = name.substr(0, name.size() - 12) + "up_proj";
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i].elements == 0)
      if (const auto owner = owners.of(list.tensors[i].name))
        all[*owner].bytes += list.tensors[i].bytes;
  return all;
}

bool same_size(const Tensor& tensor, const Gathered& g) {
  if (g.elements < 0) return true;
  if (!g.packed) return tensor.shape == g.shape;
  const Size n = tensor.elements();
  if (n == g.elements) return true;
  constexpr Size other_bits[] = {2, 3, 6, 8};
  return g.assumed && g.elements < Size{1} << 58 && std::ranges::any_of(other_bits, [&](Size bits) {
           return n <= g.elements * 2 && n * bits == g.elements * 4;
         });
}

}  // namespace headroom::model
