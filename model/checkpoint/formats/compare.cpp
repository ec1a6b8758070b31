#include "model/checkpoint/formats/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace headroom::model {
namespace {

/// Length of the common suffix of two names, in whole dotted words.
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

/// The numbers in the path (layers), then the last two words. Names whose last two words changed
/// use the last word only.
enum class WordUse { last, last_two };
std::string key_of(std::string_view name, WordUse words) {
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
  if (words == WordUse::last) return key + std::string(last);
  return key + std::string(before_last) + '.' + std::string(last);
}

std::string size_text(const Gathered& g) {
  return g.shape.empty() || g.packed ? fmt::format("{} elements in {} tensors", g.elements, g.parts)
                                     : fmt::format("{}", g.shape);
}

class Matcher {
 public:
  Matcher(const Part& part, std::vector<Gathered> found) : part_(part), found_(std::move(found)) {
    result_.stored.resize(part.tensors.size());
    for (std::size_t i = 0; i < part.tensors.size(); ++i) wanted_.push_back(i);
  }

  Comparison run() {
    by_equal_name();
    std::erase_if(wanted_, [&](std::size_t i) {  // computed at load time unless stored
      return !part_.tensors[i].is_parameter() && !part_.tensors[i].persistent;
    });
    by_common_end();
    by_place();
    give_tied();
    give_zero_biases();
    for (const std::size_t i : wanted_) {
      // A shared tensor may be stored once, and a buffer may be absent.
      const Tensor& tensor = part_.tensors[i];
      if (!tensor.tied_to.empty() || !tensor.is_parameter() || tensor.elements() == 0) continue;
      ++result_.described;
      result_.differences.push_back(
          {Difference::Kind::missing, tensor.name, fmt::format("expected {}", tensor.shape)});
    }
    for (const Gathered& g : found_)
      if (!g.used)
        result_.differences.push_back({Difference::Kind::unexpected,
                                       g.parts > 1 ? g.name : std::string(g.source),
                                       g.elements < 0 ? "not described" : size_text(g)});
    return std::move(result_);
  }

 private:
  void accept(std::size_t i, Gathered& g) {
    const Tensor& tensor = part_.tensors[i];
    g.used = true;
    ++result_.described;
    if (same_size(tensor, g)) {
      ++result_.matched;
      result_.renamed += tensor.name != g.name ? 1 : 0;
      result_.stored[i] = {g.dtype, g.bytes, g.parts, std::string(g.source)};
      by_name_[g.name] = i;
      return;
    }
    result_.differences.push_back(
        {g.parts > 1 ? Difference::Kind::experts : Difference::Kind::shape, tensor.name,
         g.packed ? fmt::format("{}, expected {} ({} elements)", size_text(g), tensor.shape,
                                tensor.elements())
                  : fmt::format("{}, expected {}", size_text(g), tensor.shape)});
  }

  /// Finds the owner of a tensor that the checkpoint stores under another of its names.
  void give_tied() {
    std::unordered_map<std::string_view, std::size_t> stored_as;
    for (std::size_t i = 0; i < part_.tensors.size(); ++i)
      if (!part_.tensors[i].tied_to.empty() && result_.stored[i].parts > 0)
        stored_as.emplace(part_.tensors[i].tied_to, i);
    std::erase_if(wanted_, [&](std::size_t i) {
      const auto it = stored_as.find(part_.tensors[i].name);
      if (it == stored_as.end() ||
          part_.tensors[it->second].elements() != part_.tensors[i].elements())
        return false;
      ++result_.described;
      ++result_.matched;
      ++result_.renamed;
      result_.stored[i] = result_.stored[it->second];
      return true;
    });
  }

  /// GPTQ files have a bias for every packed layer. If none is described, it is zero and counts as
  /// part of the weight (model/checkpoint/quantisation/layout.hpp).
  void give_zero_biases() {
    for (Gathered& g : found_) {
      if (g.used || !g.name.ends_with(".bias")) continue;
      const auto weight = by_name_.find(g.name.substr(0, g.name.size() - 4) + "weight");
      if (weight == by_name_.end()) continue;
      StoredTensor& stored = result_.stored[weight->second];
      if (!stored.name.ends_with(".qweight")) continue;
      stored.bytes += g.bytes;
      g.used = true;
    }
  }

  void by_equal_name() {
    std::unordered_map<std::string_view, Gathered*> index;
    for (Gathered& f : found_) index.emplace(f.name, &f);
    std::erase_if(wanted_, [&](std::size_t i) {
      const auto it = index.find(part_.tensors[i].name);
      if (it == index.end()) return false;
      accept(i, *it->second);
      return true;
    });
  }

  /// Each described tensor claims the candidate with the longest common suffix, unless two are
  /// equal. A candidate goes to the longest of its claims.
  void by_common_end() {
    std::unordered_map<std::string, std::vector<Gathered*>> index;
    for (Gathered& f : found_)
      if (!f.used) index[key_of(f.name, WordUse::last_two)].push_back(&f);
    std::unordered_map<Gathered*, std::vector<std::pair<std::size_t, std::size_t>>> claims;
    for (const std::size_t i : wanted_) {
      const Tensor* tensor = &part_.tensors[i];
      Gathered* best = nullptr;
      std::size_t longest = 0;
      bool unique = false;
      for (Gathered* f : index[key_of(tensor->name, WordUse::last_two)]) {
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
      if (best != nullptr && unique) claims[best].emplace_back(longest, i);
    }
    std::unordered_map<std::size_t, Gathered*> pairs;
    for (const auto& [f, list] : claims) {
      const auto most = std::max_element(list.begin(), list.end());
      const auto as_long = [&](const auto& claim) { return claim.first == most->first; };
      if (std::count_if(list.begin(), list.end(), as_long) == 1) pairs.emplace(most->second, f);
    }
    std::erase_if(wanted_, [&](std::size_t i) {
      const auto it = pairs.find(i);
      if (it == pairs.end()) return false;
      accept(i, *it->second);
      return true;
    });
  }

  /// Matches the remaining tensors if a layer has as many of a size in the checkpoint as in the
  /// description: modules were renamed. Skips stacked tensors and tensors of unknown size.
  void by_place() {
    const auto place_of = [](const std::string& name, const Shape& shape) {
      return fmt::format("{} {}", key_of(name, WordUse::last), shape);
    };
    std::unordered_map<std::string, std::vector<Gathered*>> index;
    std::unordered_map<std::string, std::size_t> wanted;
    for (Gathered& f : found_)
      if (!f.used && f.elements >= 0 && !f.packed) index[place_of(f.name, f.shape)].push_back(&f);
    const auto place = [&](std::size_t i) {
      return place_of(part_.tensors[i].name, part_.tensors[i].shape);
    };
    const auto counts = [&](std::size_t i) { return part_.tensors[i].tied_to.empty(); };
    for (const std::size_t i : wanted_)
      if (counts(i)) ++wanted[place(i)];
    std::erase_if(wanted_, [&](std::size_t i) {
      if (!counts(i)) return false;
      const auto it = index.find(place(i));
      if (it == index.end() || it->second.empty() || it->second.size() != wanted[it->first])
        return false;
      accept(i, *it->second.front());
      it->second.erase(it->second.begin());
      --wanted[it->first];
      return true;
    });
  }

  const Part& part_;
  std::vector<Gathered> found_;
  std::vector<std::size_t> wanted_;  ///< indices of tensors that checkpoints store
  std::unordered_map<std::string, std::size_t> by_name_;  ///< gathered name → tensor
  Comparison result_{};
};

}  // namespace

Comparison compare(const Part& part, const TensorList& list) { return compare(part, gather(list)); }
Comparison compare(const Part& part, std::vector<Gathered> found) {
  return Matcher(part, std::move(found)).run();
}

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
