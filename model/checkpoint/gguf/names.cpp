#include "model/checkpoint/gguf/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "hardware/text.hpp"
#include "model/checkpoint/gguf/name_rows.hpp"

namespace headroom::model {
namespace {

__extension__ using WideProduct = __int128;

class Gatherer {
 public:
  Gatherer(const Part& part, const TensorList& list) : part_(part), list_(list) {
    for (std::size_t i = 0; i < list.tensors.size(); ++i) index_.emplace(list.tensors[i].name, i);
    used_.resize(list.tensors.size());
    const bool two_stacks = index_.contains("enc.blk.0.attn_norm.weight");
    Size number = 0;
    std::string_view stack;
    for (const std::string& block : part.blocks) {
      const std::string_view own = std::string_view(block).substr(0, block.rfind('.'));
      number = own == stack || (!two_stacks && !stack.empty()) ? number + 1 : 0;
      stack = own;
      const std::string_view side = !two_stacks                     ? ""
                                    : block.starts_with("decoder.") ? "dec."
                                                                    : "enc.";
      blocks_.push_back({block + '.', fmt::format("{}blk.{}.", side, number)});
    }
  }

  std::vector<Gathered> run() {
    std::size_t block = 0;
    for (const Tensor& tensor : part_.tensors) {
      // Blocks and their tensors are in the same order.
      std::size_t at = block;
      while (at < blocks_.size() && !tensor.name.starts_with(blocks_[at].path)) ++at;
      if (at < blocks_.size()) block = at;
      take(tensor, at < blocks_.size() ? &blocks_[at] : nullptr);
    }
    take_rotary_factors();
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) continue;
      Gathered g{.name = list_.tensors[i].name, .packed = true};
      add_part(g, list_.tensors[i], list_.tensors[i].elements());
      all_.push_back(std::move(g));
    }
    return std::move(all_);
  }

 private:
  struct Block {
    std::string path, prefix;  ///< "model.layers.3.", "blk.3."
  };

  void take(const Tensor& tensor, const Block* block) {
    if (!tensor.tied_to.empty() && tensor.role != Role::head) return;
    std::string_view path = tensor.name, tail;
    for (const std::string_view word : {".weight", ".bias"})
      if (path.ends_with(word)) tail = word;
    path.remove_suffix(tail.size());
    if (block != nullptr) path.remove_prefix(block->path.size());
    const GgufModule* row = block != nullptr ? gguf_block_row(path) : gguf_outer_row(path);
    if (row == nullptr) return;
    const std::string prefix = block != nullptr ? block->prefix : "";
    for (const std::string_view alternative : split(row->gguf, '|')) {
      if (alternative == "=")
        return all_.push_back({.name = tensor.name, .elements = -1, .packed = true});
      if (alternative.starts_with('/')) {
        if (slice(tensor, prefix + std::string(alternative.substr(1)) + std::string(tail))) return;
      } else if (const auto found = all_of(prefix, alternative, tail)) {
        return gather(tensor, *found);
      }
    }
  }

  /// Gives `tensor` the next elements of the tensor `name`, and their share of its bytes. False if
  /// too few are left.
  bool slice(const Tensor& tensor, const std::string& name) {
    const auto at = find(name);
    if (!at) return false;
    const TensorHeader& whole = list_.tensors[*at];
    const Size all = whole.elements(), from = taken_[*at];
    if (all == 0 || tensor.elements() > all - from) return false;
    const Size to = from + tensor.elements();
    const auto bytes_before = [&](Size elements) {
      return static_cast<Size>(static_cast<WideProduct>(whole.bytes.count()) * elements / all);
    };
    Gathered g{.name = tensor.name, .packed = true};
    add_part(g, whole, tensor.elements());
    g.bytes = Bytes(bytes_before(to) - bytes_before(from));
    taken_[*at] = to;
    used_[*at] = to == all;
    all_.push_back(std::move(g));
    return true;
  }

  /// The tensors of an alternative if the file has all of them.
  std::optional<std::vector<std::size_t>> all_of(const std::string& prefix,
                                                 std::string_view alternative,
                                                 std::string_view tail) const {
    std::vector<std::size_t> found;
    for (const std::string_view word : split(alternative, '+')) {
      const bool outside = word.starts_with('^');
      const std::string name = outside ? std::string(word.substr(1)) : prefix + std::string(word);
      std::optional<std::size_t> at = find(name + std::string(word.ends_with(".bias") ? "" : tail));
      if (!at && tail.empty()) at = find(name + ".weight");
      if (!at) at = find(name);  // Falcon-H1's "ffn_norm"
      if (at) {
        found.push_back(*at);
      } else if (!add_single_experts(name, found)) {
        return std::nullopt;
      }
    }
    return found;
  }
  std::optional<std::size_t> find(const std::string& name) const {
    const auto it = index_.find(name);
    return it == index_.end() || used_[it->second] ? std::nullopt : std::optional(it->second);
  }
  /// Files of 2023 store experts one by one: "ffn_up.7.weight" instead of "ffn_up_exps".
  bool add_single_experts(std::string name, std::vector<std::size_t>& found) const {
    if (!name.ends_with("_exps")) return false;
    name.resize(name.size() - 5);
    const std::size_t before = found.size();
    for (Size i = 0;; ++i) {
      const auto at = find(fmt::format("{}.{}.weight", name, i));
      if (!at) break;
      found.push_back(*at);
    }
    return found.size() > before;
  }

  void gather(const Tensor& tensor, const std::vector<std::size_t>& found) {
    Gathered g{.name = tensor.name, .packed = true, .parts = 0};
    for (const std::size_t i : found) {
      used_[i] = true;
      add_part(g, list_.tensors[i], list_.tensors[i].elements());
      ++g.parts;
    }
    all_.push_back(std::move(g));
  }

  /// Factors on the rotary frequencies represent the table that they scale.
  void take_rotary_factors() {
    const auto table = std::ranges::find_if(
        part_.tensors, [](const Tensor& t) { return t.name.ends_with("inv_freq"); });
    if (table == part_.tensors.end()) return;
    Gathered g{.name = table->name, .elements = -1, .packed = true, .parts = 0};
    for (const auto& [name, at] : index_) {
      if (used_[at] || !name.starts_with("rope_f")) continue;
      used_[at] = true;
      add_part(g, list_.tensors[at], 0);
      ++g.parts;
    }
    if (g.parts > 0) all_.push_back(std::move(g));
  }

  const Part& part_;
  const TensorList& list_;
  std::vector<Block> blocks_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> used_;
  std::unordered_map<std::size_t, Size> taken_;  ///< elements of tensors that are shared out
  std::vector<Gathered> all_;
};

}  // namespace

std::vector<Gathered> gather_gguf(const Part& part, const TensorList& list) {
  return Gatherer(part, list).run();
}

}  // namespace headroom::model
