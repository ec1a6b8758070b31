// Composition of models from described ones.
#include "model/describe/architectures/composition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>
#include <stdexcept>

#include "hardware/names.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families {

Config section_of(const Config& c, std::string_view key, std::string_view model_type) {
  const Config inner = c.section_or_empty(key);
  std::string type = inner.text({"model_type"}, model_type);
  // A section never has the class of the whole model. SmolVLM's vision_config says "idefics3", and
  // the reference reads it with the class that Idefics3Config names for that section.
  const bool whole = !model_type.empty() && type == c.text({"model_type"}, "");
  return with_class_defaults(inner, whole ? model_type : type)
      .with_defaults({{"model_type", type}});
}

Config section_or_self(const Config& c, std::string_view key, std::string_view model_type) {
  if (c.has(key)) return section_of(c, key, model_type);
  return with_class_defaults(c, model_type);
}

Submodel body_of(const Part& part, std::string_view name) {
  const std::string scope = std::string(name) + '.';
  Submodel body;
  const auto inner = [&](std::string path) { return path.substr(scope.size()); };
  for (const auto& m : part.modules) {
    if (m.path == name) body.class_name = m.class_name;
    if (m.path.starts_with(scope))
      body.part.modules.push_back({inner(m.path), m.class_name, m.passes, m.norm, m.quirks});
  }
  for (Tensor t : part.tensors) {
    if (!t.name.starts_with(scope)) continue;
    if (!t.tied_to.empty()) {
      if (!t.tied_to.starts_with(scope))
        throw std::logic_error(t.name + " is tied outside its model");
      t.tied_to = inner(t.tied_to);
    }
    t.name = inner(t.name);
    body.part.tensors.push_back(std::move(t));
  }
  for (Cache cache : part.caches) {
    if (!cache.path.starts_with(scope)) continue;
    cache.path = inner(cache.path);
    body.part.caches.push_back(std::move(cache));
  }
  for (const auto& block : part.blocks)
    if (block.starts_with(scope)) body.part.blocks.push_back(inner(block));
  body.part.no_split = part.no_split;
  return body;
}

Submodel text_model(const Config& c) { return text_model(c, c.text({"model_type"})); }

namespace {

/// The first row of that type whose class `generates`; throws ConfigError naming the known types.
template <class Predicate>
const Architecture& row_of(const Config& c, std::string_view type, Predicate&& generates) {
  std::set<std::string> known;
  for (const auto& row : architectures()) {
    if (row.model_type == type && generates(row.name)) return row;
    known.emplace(row.model_type);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  c.fail("model_type", fmt::format("text model '{}' is not described; nearest: {}", type,
                                   fmt::join(nearest(std::string(type), names), ", ")));
}

bool is_causal(std::string_view name) {
  return name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel");
}

bool writes(std::string_view name) {
  return is_causal(name) || name.ends_with("ForConditionalGeneration");
}

}  // namespace

Size width_of(const Config& c) {
  return c.dim({"n_embed", "hidden_size", "n_embd", "d_model", "word_embed_proj_dim", "embed_dim"});
}

Submodel text_model(const Config& c, std::string_view type) {
  const Architecture& row = row_of(c, type, is_causal);
  const Part whole = row.describe(c.as_class(row.name));
  Submodel body = body_of(whole, whole.modules.front().path);
  body.width = width_of(c);
  return body;
}

Part body_without_head(const Config& c, std::string_view name) {
  const Architecture& row = row_of(c, c.text({"model_type"}), writes);
  const Part whole = row.describe(c.as_class(row.name));
  const std::string own = whole.modules.front().path;
  Submodel body = body_of(whole, own);
  if (name.empty()) name = own;
  return in(name, body.class_name, owners_at(std::move(body.part), name));
}

Part owners_at(Part part, std::string_view path) {
  for (auto& t : part.tensors)
    for (auto* owner : {&t.tied_to, &t.reference_tied_to})
      if (!owner->empty()) owner->insert(0, std::string(path) + '.');
  return part;
}

Part whole_model(const Config& c) {
  const Architecture& row = row_of(c, c.text({"model_type"}), writes);
  return row.describe(c.as_class(row.name));
}

Part whole_model(const Config& c, std::string_view name) {
  return whole_model(c, name, c.text({"model_type"}));
}

Part whole_model(const Config& c, std::string_view name, std::string_view type) {
  const Architecture& row = row_of(c, type, writes);
  return in(name, row.name, owners_at(row.describe(c.as_class(row.name)), name));
}

Part renamed(Part part, std::string_view from, std::string_view to,
             std::initializer_list<std::string_view> kept) {
  const auto rename = [&](std::string& name) {
    if (!name.starts_with(from) || std::find(kept.begin(), kept.end(), name) != kept.end()) return;
    name = std::string(to) + name.substr(from.size());
  };
  for (auto& m : part.modules) rename(m.class_name);
  for (auto& name : part.no_split) rename(name);
  return part;
}

bool head_is_tied(const Config& whole, const Config& text, bool fallback, Inherit inherit) {
  return whole.flag({"tie_word_embeddings"}, fallback) ||
         (inherit == Inherit::yes && text.flag({"tie_word_embeddings"}, false));
}

Part with_language_head(Part body, const Config& text, bool is_tied,
                        std::string_view embedding_weight) {
  body =
      std::move(body) + output_head("lm_head", text.dim({"hidden_size"}), text.dim({"vocab_size"}));
  return is_tied ? tied(std::move(body), "lm_head.weight", embedding_weight) : body;
}

Part frequencies(std::string_view name, std::string_view class_name, Size count) {
  return in(name, class_name, buffer("inv_freq", {count}) + buffer("original_inv_freq", {count}));
}

std::vector<std::string> kinds_of(const std::vector<std::string>& types) {
  const std::set<std::string> kinds(types.begin(), types.end());
  return {kinds.begin(), kinds.end()};
}

Part with_unsplittable(Part part, std::initializer_list<std::string> classes) {
  return std::move(part) + Part{.no_split = {classes.begin(), classes.end()}};
}

namespace {

bool is_in(std::string_view path, std::string_view scope) {
  return path == scope ||
         (path.starts_with(scope) && path.size() > scope.size() && path[scope.size()] == '.');
}

}  // namespace

Part without(Part part, std::string_view path) {
  std::erase_if(part.modules, [&](const Module& m) { return is_in(m.path, path); });
  std::erase_if(part.tensors, [&](const Tensor& t) { return is_in(t.name, path); });
  std::erase_if(part.caches, [&](const Cache& cache) { return is_in(cache.path, path); });
  std::erase_if(part.blocks, [&](const std::string& b) { return is_in(b, path); });
  return part;
}

Part moved(Part part, std::string_view from, std::string_view to) {
  const auto rename = [&](std::string& path) {
    if (is_in(path, from)) path.replace(0, from.size(), to);
  };
  for (Module& m : part.modules) rename(m.path);
  for (Tensor& t : part.tensors)
    for (std::string* name : {&t.name, &t.tied_to, &t.reference_tied_to}) rename(*name);
  for (Cache& cache : part.caches) rename(cache.path);
  for (std::string& b : part.blocks) rename(b);
  return part;
}

}  // namespace headroom::model::families
