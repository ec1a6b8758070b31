// Compares one model with its reference: totals, tensors, modules and layer lists.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "model/describe/architecture.hpp"
#include "part_lines.hpp"
#include "reference.hpp"

namespace headroom::model {

namespace json = boost::json;
using oracle::Reference;

/// Comparisons over all models of a folder.
struct ModelTally {
  std::set<std::string> architectures, undescribed;
  std::size_t models = 0, tensors = 0, mismatches = 0;
};

class ModelComparison {
 public:
  ModelComparison(const Reference& reference, ModelTally& tally)
      : reference_(reference),
        tally_(tally),
        by_config_(describe(parse_config(reference.config, reference.name))),
        part_(as_reference(by_config_)) {}

  void run() {
    equal_lists("parameters", oracle::parameter_lines(part_), their_parameters());
    equal_lists("buffers", oracle::buffer_lines(part_), their_buffers());
    equal_lists("modules", oracle::module_lines(part_), their_modules());
    equal_lists("tied groups", oracle::tie_lines(part_), their_ties());
    equal_lists("no_split", oracle::no_split_lines(part_), strings(counts("no_split")));
    equal("total", oracle::total_of(part_), number("total"));
    total_by_config();
    equal("untied_total", total("", true), number("untied_total"));
    if (!counts("embedding").is_null())
      equal("embedding", total(name("embedding_name"), true), number("embedding"));
    const std::string head = name("lm_head_name");
    equal("lm_head", head.empty() ? 0 : total(head, true), number("lm_head"));
    active();
    layer_lists();
    cache();
    roles();
    ++tally_.models;
    tally_.tensors += part_.tensors.size();
    tally_.architectures.insert(oracle::text_of(counts("architecture")));
  }

 private:
  const json::value& counts(std::string_view key) const { return reference_.counts.at(key); }
  Size number(std::string_view key) const { return counts(key).to_number<Size>(); }
  std::string name(std::string_view key) const {
    return counts(key).is_null() ? std::string{} : oracle::text_of(counts(key));
  }

  void mismatch(const std::string& what) {
    if (++tally_.mismatches <= 40) ADD_FAILURE() << reference_.name << ": " << what;
  }
  void equal(const std::string& what, Size ours, Size theirs) {
    if (ours != theirs) mismatch(fmt::format("{}: ours {}, reference {}", what, ours, theirs));
  }
  void equal_lists(const std::string& what, const std::vector<std::string>& ours,
                   const std::vector<std::string>& theirs) {
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      const std::string left = i < ours.size() ? ours[i] : "(end)";
      const std::string right = i < theirs.size() ? theirs[i] : "(end)";
      if (left != right) {
        mismatch(fmt::format("{} {}: ours {}, reference {}", what, i, left, right));
        return;
      }
    }
  }

  // ---- lists ------------------------------------------------------------------------------------

  static std::vector<std::string> strings(const json::value& list) {
    std::vector<std::string> all;
    for (const auto& v : list.as_array()) all.push_back(oracle::text_of(v));
    std::sort(all.begin(), all.end());
    return all;
  }
  static std::string row(const json::array& r) {
    std::vector<Size> shape;
    for (const auto& d : r[1].as_array()) shape.push_back(d.to_number<Size>());
    return fmt::format("{} [{}] {}", oracle::text_of(r[0]), fmt::join(shape, ","),
                       oracle::text_of(r[2]));
  }
  std::vector<std::string> their_parameters() const {
    std::vector<std::string> all;
    for (const auto& r : reference_.tensors.at("params").as_array())
      all.push_back(row(r.as_array()));
    return all;
  }
  std::vector<std::string> their_buffers() const {
    std::vector<std::string> all;
    for (const auto& r : reference_.tensors.at("buffers").as_array())
      all.push_back(row(r.as_array()) + ' ' + oracle::text_of(r.as_array()[3]));
    return all;
  }
  std::vector<std::string> their_modules() const {
    std::vector<std::string> all;
    for (const auto& m : reference_.tensors.at("modules").as_array())
      all.push_back(oracle::text_of(m.as_array()[0]) + ' ' + oracle::text_of(m.as_array()[1]));
    return all;
  }
  std::vector<std::string> their_ties() const {
    std::vector<std::string> all;
    for (const auto& group : reference_.tensors.at("tied_groups").as_array())
      all.push_back(fmt::format("{}", fmt::join(strings(group), " = ")));
    std::sort(all.begin(), all.end());
    return all;
  }

  /// transformers 5 ties some heads that the config unties. Counts go by the config, as in
  /// transformers 4.57.
  void total_by_config() {
    const auto& tensors = by_config_.tensors;
    if (std::any_of(tensors.begin(), tensors.end(),
                    [](const Tensor& t) { return !t.reference_tied_to.empty(); }))
      equal("total by the config's flag", oracle::total_of(by_config_),
            number("transformers_4_57_total"));
  }

  // ---- sums -------------------------------------------------------------------------------------

  /// Parameters at or below `scope`, those tied to another in it once unless `each`.
  Size total(std::string_view scope, bool each = false) const {
    const auto inside = [&](std::string_view name) {
      return scope.empty() || (name.starts_with(scope) &&
                               (name.size() == scope.size() || name[scope.size()] == '.'));
    };
    Size sum = 0;
    for (const auto& t : part_.tensors)
      if (t.is_parameter() && inside(t.name) && (each || t.tied_to.empty() || !inside(t.tied_to)))
        sum += t.elements();
    return sum;
  }
  /// The reference takes the text model's top_k for every list of experts that it finds, including
  /// towers' and shared ones. Only models with one kind of list are comparable. "unclear": it found
  /// none.
  void active() {
    const json::value& theirs = counts("moe_active");
    if (theirs.is_string()) return;
    if (const auto* moe = reference_.counts.if_contains("moe"))
      if (moe->at("n_experts").as_array().size() > 1) return;
    equal("moe_active", oracle::active_of(part_),
          theirs.is_null() ? number("total") : number("moe_active"));
  }
  void layer_lists() {
    const std::set<std::string> blocks(part_.blocks.begin(), part_.blocks.end());
    for (const auto& [key, list] : counts("layer_lists").as_object()) {
      const std::string path(key);
      Size layer = 0;
      for (const auto& run : list.at("params").as_array())
        for (Size k = 0; k < run.as_array()[1].to_number<Size>(); ++k, ++layer)
          equal(fmt::format("{}.{}", path, layer), total(fmt::format("{}.{}", path, layer)),
                run.as_array()[0].to_number<Size>());
      if (path == name("layers_path"))
        for (Size k = 0; k < layer; ++k)
          if (!blocks.contains(fmt::format("{}.{}", path, k)))
            mismatch(fmt::format("{}.{} is not a block", path, k));
    }
  }

  // ---- cache ------------------------------------------------------------------------------------

  void cache() {
    const std::string kind = oracle::text_of(counts("kv_kind"));
    if (reference_.counts.contains("measured_cache")) measured_cache(counts("measured_cache"));
    // The reference itself marks these as not checked: nothing to compare with.
    if (kind.starts_with("UNCHECKED") || kind.starts_with("unclear")) return;
    // The reference's figure is a formula over the config; an encoder decodes nothing.
    if (oracle::text_of(counts("architecture")).ends_with("ForMaskedLM")) {
      EXPECT_TRUE(part_.caches.empty()) << reference_.name;
      return;
    }
    Size latent = 0, expanded = 0, windowed = 0, crossing = 0;
    for (const auto& c : part_.caches) {
      if (c.kind == CacheKind::cross_attention) crossing += c.per_token;
      // The published figure is of keys and values alone.
      if (c.kind == CacheKind::cross_attention || c.kind == CacheKind::indexer) continue;
      latent += c.per_token;
      expanded += c.kind == CacheKind::latent ? c.expanded_per_token : c.per_token;
      if (c.window > 0) ++windowed;
    }
    // Summed over modules by name, cross-attention may be among them (Pix2Struct).
    if (kind.starts_with("from k_proj/v_proj widths") &&
        number("kv_bytes_per_token_fp16") == 2 * (latent + crossing))
      latent += crossing;
    if (!counts("kv_bytes_per_token_fp16").is_null())
      equal("kv_bytes_per_token_fp16", 2 * latent, number("kv_bytes_per_token_fp16"));
    if (reference_.counts.contains("kv_bytes_per_token_fp16_hf_expanded"))
      equal("kv_bytes_per_token_fp16_hf_expanded", 2 * expanded,
            number("kv_bytes_per_token_fp16_hf_expanded"));
    if (kind.starts_with("mixed"))
      equal("windowed layers", windowed,
            layers_of_type("sliding_attention") + layers_of_type("chunked_attention"));
  }
  /// Cache of transformers after a forward pass: the part that grows with the tokens, and the fixed
  /// part.
  void measured_cache(const json::value& measured) {
    if (measured.is_null()) return;
    const oracle::Kept ours = oracle::kept_by(part_);
    equal("cache per token", ours.per_token, measured.at("per_token").to_number<Size>());
    equal("cache per sequence", ours.per_sequence, measured.at("per_sequence").to_number<Size>());
    if (!measured.as_object().contains("by_window")) return;
    std::map<Size, Size> theirs;
    for (const auto& [window, kept] : measured.at("by_window").as_object())
      theirs[std::stoll(window)] = kept.to_number<Size>();
    if (ours.by_window != theirs)
      mismatch(fmt::format("cache by window: ours {}, reference {}", ours.by_window, theirs));
  }
  Size layers_of_type(std::string_view type) const {
    if (!reference_.counts.contains("layer_types")) return 0;
    const auto& types = counts("layer_types").as_object();
    return types.contains(type) ? types.at(type).to_number<Size>() : 0;
  }

  // ---- roles ------------------------------------------------------------------------------------

  /// The classes of torch say what a weight does.
  void roles() {
    std::map<std::string_view, std::string_view> classes;
    for (const auto& m : part_.modules) classes[m.path] = m.class_name;
    const std::string head = name("lm_head_name");
    for (const auto& t : part_.tensors) {
      if (!t.is_parameter()) continue;
      const std::string_view in = classes[t.module()];
      const bool weight = t.name.ends_with(".weight");
      std::set<Role> allowed;
      if (weight && (in == "Linear" || in == "Conv1D")) allowed = {Role::matmul, Role::head};
      if (weight && in == "Embedding") allowed = {Role::embedding};
      if (in == "LayerNorm" || in.ends_with("RMSNorm")) allowed = {Role::norm};
      if (weight && (in == "Conv1d" || in == "Conv2d" || in == "Conv3d")) allowed = {Role::conv};
      // FSMT names its target embedding; its logits are made by another matrix.
      if (!head.empty() && t.name == head + ".weight" && in != "Embedding") allowed = {Role::head};
      if (!allowed.empty() && !allowed.contains(t.role))
        mismatch(fmt::format("role of {} ({}) is {}", t.name, in, static_cast<int>(t.role)));
    }
  }

  const Reference& reference_;
  ModelTally& tally_;
  const Part by_config_, part_;
};

}  // namespace headroom::model
