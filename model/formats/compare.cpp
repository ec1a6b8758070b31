#include "model/formats/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/formats/logical.hpp"

namespace headroom::model {
namespace {

/// A tensor of the checkpoint, or experts stacked from several.
struct Found {
  std::string name;
  Shape shape;
  Size elements = 0;
  bool packed = false;  ///< its stored shape is not the matrix's
  Size parts = 1;
  bool used = false;
};

/// "mlp.experts.7.w1.weight" as what it is stacked into: "mlp.experts.gate_up_proj".
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

/// The name without the ending that packing gives: "….weight" for "….qweight".
std::string plain_name(std::string name) {
  for (const std::string_view tail : {".qweight", ".weight_packed"})
    if (name.ends_with(tail)) return name.substr(0, name.size() - tail.size()) + ".weight";
  if (name.ends_with("_blocks")) name.resize(name.size() - 7);
  return name;
}

bool is_gate(std::string_view name) {
  return name.find(".gate_proj") != std::string_view::npos ||
         name.find(".w1") != std::string_view::npos;
}

std::vector<Found> gather(const TensorList& list) {
  const std::vector<Size> elements = logical_elements(list, nullptr);
  std::vector<Found> all;
  std::unordered_map<std::string, std::size_t> stacks;
  std::set<std::size_t> gated;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const TensorHeader& tensor = list.tensors[i];
    if (elements[i] == 0) continue;
    const auto stack = stacked_name(tensor.name);
    if (stack) {
      const auto [it, fresh] = stacks.emplace(*stack, all.size());
      if (fresh) all.push_back({*stack, {}, 0, true, 0});
      all[it->second].elements += elements[i];
      if (is_gate(tensor.name)) gated.insert(it->second);
      ++all[it->second].parts;
      continue;
    }
    const bool packed = elements[i] != tensor.elements();
    all.push_back({plain_name(tensor.name), tensor.shape, elements[i], packed, 1});
  }
  for (const auto& [name, at] : stacks)  // experts without a gate keep the name of their one input
    if (name.ends_with("gate_up_proj") && !gated.contains(at))
      all[at].name = name.substr(0, name.size() - 12) + "up_proj";
  return all;
}

/// Length of the common end of two names, in whole dotted words.
std::size_t common_end(std::string_view a, std::string_view b) {
  std::size_t n = 0, whole = 0;
  while (n < a.size() && n < b.size() && a[a.size() - 1 - n] == b[b.size() - 1 - n]) {
    ++n;
    const bool ends_a = n == a.size() || a[a.size() - 1 - n] == '.';
    const bool ends_b = n == b.size() || b[b.size() - 1 - n] == '.';
    if (ends_a && ends_b) whole = n;
  }
  return whole;
}

/// What two names must share to be held to mean the same: the numbers in their paths (layers) and
/// their last two words.
std::string key_of(std::string_view name) {
  std::string key;
  std::string_view before_last, last;
  for (std::size_t at = 0; at <= name.size();) {
    const auto end = std::min(name.find('.', at), name.size());
    const std::string_view word = name.substr(at, end - at);
    if (!word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos)
      key += std::string(word) + '.';
    before_last = std::exchange(last, word);
    at = end + 1;
  }
  return key + std::string(before_last) + '.' + std::string(last);
}

bool same_size(const Tensor& tensor, const Found& found) {
  return found.packed ? tensor.elements() == found.elements : tensor.shape == found.shape;
}

class Matcher {
 public:
  Matcher(const Part& part, const TensorList& list) : found_(gather(list)) {
    for (const Tensor& tensor : part.tensors)
      if (tensor.is_parameter() || tensor.persistent) wanted_.push_back(&tensor);
  }

  Comparison run() {
    by_equal_name();
    by_common_end();
    for (const Tensor* tensor : wanted_) {
      // A shared tensor may be stored once, and a buffer need not be.
      if (!tensor->tied_to.empty() || !tensor->is_parameter()) continue;
      ++result_.described;
      result_.differences.push_back(
          {Difference::Kind::missing, tensor->name, fmt::format("expected {}", tensor->shape)});
    }
    for (const Found& f : found_)
      if (!f.used)
        result_.differences.push_back(
            {Difference::Kind::unexpected, f.name,
             f.shape.empty() ? fmt::format("{} elements in {} tensors", f.elements, f.parts)
                             : fmt::format("{}", f.shape)});
    return std::move(result_);
  }

 private:
  void accept(const Tensor& tensor, Found& f) {
    f.used = true;
    ++result_.described;
    if (same_size(tensor, f)) {
      ++result_.matched;
      result_.renamed += tensor.name != f.name ? 1 : 0;
    } else if (f.packed) {
      result_.differences.push_back(
          {f.parts > 1 ? Difference::Kind::experts : Difference::Kind::shape, tensor.name,
           fmt::format("{} elements in {} tensors, expected {} ({} elements)", f.elements, f.parts,
                       tensor.shape, tensor.elements())});
    } else {
      result_.differences.push_back({Difference::Kind::shape, tensor.name,
                                     fmt::format("{}, expected {}", f.shape, tensor.shape)});
    }
  }

  void by_equal_name() {
    std::unordered_map<std::string_view, Found*> index;
    for (Found& f : found_) index.emplace(f.name, &f);
    std::erase_if(wanted_, [&](const Tensor* tensor) {
      const auto it = index.find(tensor->name);
      if (it == index.end()) return false;
      accept(*tensor, *it->second);
      return true;
    });
  }

  /// Each described tensor claims the candidate with the longest common end, if no other has one as
  /// long; a candidate goes to the longest of its claims.
  void by_common_end() {
    std::unordered_map<std::string, std::vector<Found*>> index;
    for (Found& f : found_)
      if (!f.used) index[key_of(f.name)].push_back(&f);
    std::unordered_map<Found*, std::vector<std::pair<std::size_t, const Tensor*>>> claims;
    for (const Tensor* tensor : wanted_) {
      Found* best = nullptr;
      std::size_t longest = 0;
      bool unique = false;
      for (Found* f : index[key_of(tensor->name)]) {
        if (!same_size(*tensor, *f)) continue;
        const std::size_t n = common_end(tensor->name, f->name);
        if (n > longest) {
          longest = n;
          best = f;
          unique = true;
        } else if (n == longest) {
          unique = false;
        }
      }
      if (best != nullptr && unique) claims[best].emplace_back(longest, tensor);
    }
    std::unordered_map<const Tensor*, Found*> pairs;
    for (const auto& [f, list] : claims) {
      const auto most = std::max_element(list.begin(), list.end());
      const auto as_long = [&](const auto& claim) { return claim.first == most->first; };
      if (std::count_if(list.begin(), list.end(), as_long) == 1) pairs.emplace(most->second, f);
    }
    std::erase_if(wanted_, [&](const Tensor* tensor) {
      const auto it = pairs.find(tensor);
      if (it == pairs.end()) return false;
      accept(*tensor, *it->second);
      return true;
    });
  }

  std::vector<Found> found_;
  std::vector<const Tensor*> wanted_;
  Comparison result_;
};

}  // namespace

Comparison compare(const Part& part, const TensorList& list) { return Matcher(part, list).run(); }

std::string_view name_of(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::missing:
      return "missing";
    case Difference::Kind::unexpected:
      return "unexpected";
    case Difference::Kind::shape:
      return "shape";
    case Difference::Kind::experts:
      return "experts";
  }
  return "";
}

}  // namespace headroom::model
