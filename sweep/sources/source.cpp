// The order in which sources of models are asked.
#include "sweep/sources/source.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/describe/architecture.hpp"
#include "sweep/concurrent_requests.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/hub/url.hpp"
#include "sweep/sources/custom_source.hpp"
#include "sweep/sources/model_from_files.hpp"
#include "sweep/sources/nearest_models.hpp"
#include "sweep/sources/typed_name.hpp"

namespace headroom::sweep {

ModelReference parse_reference(std::string_view text) {
  // The hub's links to files end so.
  if (text.starts_with("http")) text = text.substr(0, text.find("?download="));
  const auto question = text.find('?');
  ModelReference reference{std::string(text.substr(0, question)), {}};
  if (question == std::string_view::npos) return reference;
  std::string_view rest = text.substr(question + 1);
  do {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size())
      throw std::invalid_argument(fmt::format(
          "model '{}': found '{}' after '?', expected KEY=VALUE such as num_hidden_layers=12", text,
          pair));
    reference.overrides.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  } while (!rest.empty());
  return reference;
}

namespace {

/// "org/name" or "org/name:TAG" of a reference; empty where it has no owner, or names a file.
std::string repository_of(const ModelReference& reference) {
  return std::ranges::count(reference.name, '/') == 1 ? reference.name : std::string();
}

/// The GGUF scheme with the type of a plain one. A file in 16 bit keeps MXFP4 experts. Source:
/// llama.cpp convert_hf_to_gguf.py, whose --outtype is f32, f16 or bf16.
std::string in_gguf(const std::string& plain) {
  return plain == "bf16" ? "gguf-bf16" : plain == "fp32" ? "gguf-f32" : "gguf-f16";
}

/// Makes `model` its conversion in `scheme`, which `text` says.
void convert(model::Model& model, const std::string& scheme, const std::string& text) {
  const auto family = model::scheme(scheme).family;
  const bool named = contains(lower(text), "gguf");
  if (named || family == model::SchemeFamily::gguf)
    model.converted_from = {model.checkpoint_scheme, std::move(model.checkpoint)};
  model.checkpoint_scheme =
      named && family == model::SchemeFamily::plain ? in_gguf(scheme) : scheme;
  model.checkpoint = {};
}

/// A model of the catalogue that a conversion or a tag is named after, in the precision of the
/// name. Says so among what is assumed.
std::optional<model::Model> find_typed(const ModelReference& reference) {
  const auto typed = typed_name(reference.name);
  if (!typed) return std::nullopt;
  auto found = catalogue_source()->find({typed->model, reference.overrides});
  if (!found) return found;
  if (!typed->scheme.empty()) convert(*found, typed->scheme, reference.name);
  found->repository = repository_of(reference);
  found->assumed.push_back(fmt::format("{} is {}{}", reference.name, typed->model,
                                       typed->scheme.empty() ? "" : " in " + typed->scheme));
  return found;
}

/// Sources without network. Names with an owner may be on the hub.
std::optional<model::Model> find_here(const ModelReference& reference) {
  for (const auto make : {custom_source, catalogue_source, file_source})
    if (auto found = make()->find(reference)) return found;
  if (reference.name.find('/') == std::string::npos) return find_typed(reference);
  return std::nullopt;
}

model::Model ask_hub(const ModelReference& reference, const Hub& hub) try {
  if (auto found = hub.find(reference)) {
    found->repository = repository_of(reference);
    return std::move(*found);
  }
  if (auto found = find_typed(reference)) return std::move(*found);
  if (reference.name.empty())
    throw UnknownName("MODEL is empty; expected a name (Qwen/Qwen3-8B), a folder or a file");
  if (reference.name.find('/') != std::string::npos)
    throw UnknownName(fmt::format(
        "{}: no such file or folder, and no name of a model; nearest in the catalogue: {}",
        contains(reference.name, "://") ? shown_url(reference.name) : reference.name,
        fmt::join(nearest_models(reference.name), ", ")));
  throw UnknownName(fmt::format("unknown model '{}'; nearest: {}", reference.name,
                                fmt::join(nearest_models(reference.name), ", ")));
} catch (const HubError& e) {
  if (e.problem == HubError::Problem::refused) throw;
  if (auto found = find_typed(reference)) return std::move(*found);
  const std::string text =
      fmt::format("model '{}' is no file and not in the catalogue (nearest: {}); {}",
                  reference.name, fmt::join(nearest_models(reference.name), ", "), e.what());
  if (e.problem == HubError::Problem::no_repository) throw UnknownName(text);
  throw HubError(e.problem, text + "; a folder with its config.json needs no network");
}

/// Attention groups query heads evenly over key/value heads; a config where they do not divide can
/// be counted, and runs nowhere. Heads that the description does not keep in a cache (latent
/// attention, recurrent layers) are not meant.
void check_heads(const model::Model& model) {
  const Size query = model.shape.query_heads, kv = model.shape.kv_heads;
  if (kv <= 0 || query % kv == 0) return;
  for (const model::Cache& cache : model.part.caches)
    if (cache.kind == model::CacheKind::self_attention && cache.kv_heads == kv)
      throw model::ConfigError(
          fmt::format("{}: key 'num_attention_heads': found {}, no multiple of num_key_value_heads "
                      "({}): no attention runs so (`headroom params` counts it)",
                      model.name, query, kv));
}

model::Model described(model::Model model) {
  if (const auto why = model::counted_only(model.architecture, model.model_type); !why.empty())
    throw model::NotDescribed(fmt::format(
        "{}: the execution of a {} is not described: {} (`headroom params` counts its tensors)",
        model.name, model.architecture, why));
  if (model.undescribed.empty()) {
    check_heads(model);
    return model;
  }
  throw model::NotDescribed(fmt::format(
      "{}: its KV cache, activations and speed are not known: {} (`headroom params` counts its "
      "tensors)",
      model.name, model.undescribed));
}

}  // namespace

model::Model resolve_model(std::string_view text, const Hub& hub) {
  const auto reference = parse_reference(text);
  if (auto found = find_here(reference)) return described(std::move(*found));
  return described(ask_hub(reference, hub));
}

model::Model resolve_model(std::string_view text) { return resolve_model(text, Hub()); }

std::vector<Resolved> resolve_models(std::span<const std::string> texts, const Hub& hub,
                                     Need need) {
  std::vector<Resolved> all(texts.size());
  const auto attempt = [&](std::size_t i, auto&& find) {
    try {
      all[i].model = find(parse_reference(texts[i]));
      if (all[i].model && need == Need::description)
        all[i].model = described(std::move(*all[i].model));
    } catch (...) {
      all[i].model.reset();  // it may have been moved from
      all[i].failure = std::current_exception();
    }
  };
  if (texts.size() == 1)  // threads take longer to start than this takes
    attempt(0, find_here);
  else
    tbb::parallel_for(std::size_t{0}, texts.size(), [&](std::size_t i) { attempt(i, find_here); });
  std::vector<std::size_t> remote;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].model && !all[i].failure) remote.push_back(i);
  run_concurrently(remote.size(), [&](std::size_t k) {
    attempt(remote[k], [&](const ModelReference& reference) { return ask_hub(reference, hub); });
  });
  return all;
}

}  // namespace headroom::sweep
