#include "model/infer/memory/cache_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/engine/default_cache.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/memory/kv_cache.hpp"

namespace headroom::model {

CachePrecision cache_precision(const Scenario& s) {
  if (s.kv_precision.is_complete()) return s.kv_precision;
  return s.kv_precision.completed(default_cache(*s.weights, *s.runtime));
}

bool has_format(const Engine& engine, const Precision& precision, const Machine& machine) {
  const CacheFormat* format = engine.cache.format(precision);
  if (format == nullptr) return false;
  return format->cards.empty() || holds(format->cards, machine);
}

bool holds_cache(const Engine& engine, const Model& model, CachePrecision cache,
                 const Machine& machine) {
  const CachePolicy& policy = engine.cache;
  if (!has_format(engine, *cache.keys, machine) || !has_format(engine, *cache.values, machine))
    return false;
  if (!cache.differ() || policy.separate == SeparateFormats::always) return true;
  if (policy.separate == SeparateFormats::never) return false;
  if (policy.separate == SeparateFormats::quantised)
    return cache.keys->block_elements > 1 && cache.values->block_elements > 1;
  return std::ranges::none_of(model.profile.caches, [&](const CacheClass& c) {
    return c.kind == CacheKind::latent && keeps_latents(engine, model);
  });
}

bool in_own_format(const Scenario& s, const CacheClass& c) {
  if (c.kind == CacheKind::waiting) return true;
  if (!s.runtime->cache.sparse_in_fp8 || c.entry_bytes == 0) return false;
  return c.kind == CacheKind::indexer || cache_precision(s).keys->name == "fp8";
}

OwnEntry own_entry(const Scenario& s, const CacheClass& c) {
  constexpr Size step = 576, sm100_step = 512;
  const bool sm100 = c.sm100_entry_bytes > 0 && s.machine != nullptr &&
                     !s.machine->devices.empty() &&
                     std::ranges::all_of(s.machine->devices, [](const auto& card) {
                       return card.compute_capability && card.compute_capability->major == 10;
                     });
  return sm100 ? OwnEntry{c.sm100_entry_bytes, sm100_step} : OwnEntry{c.entry_bytes, step};
}

const std::vector<Size>& fp32_before(const Scenario& s, const CacheClass& c) {
  return s.runtime->cache.scan_states == ScanStates::fp32 ? c.scanned_before : c.fp32_before;
}

const std::vector<Size>& elements_of_state(const Scenario& s, const CacheClass& c) {
  return s.runtime->cache.newest_input ? c.state_before : c.carried_before;
}

Size fp32_excess(const Scenario& s) {
  constexpr Size fp32_bytes = 4;
  return fp32_bytes - s.runtime->cache.state_bytes;
}

Size applied_window(const Scenario& s, const CacheClass& c) {
  const auto& windowed = s.runtime->cache.windowed_classes;
  const Model& model = *s.weights->model;
  if (c.window == 0 || windowed.empty() || is_listed(windowed, model)) return c.window;
  const auto& by_name = s.runtime->classes;
  return by_name && is_listed(*by_name, model) ? 0 : c.window;
}

Size ways_of(const Scenario& s, const CacheClass& c, Size shards) {
  if (c.kind == CacheKind::recurrent) return shards;
  if (c.kind == CacheKind::latent && !keeps_latents(s)) return shards;
  if (c.kind == CacheKind::latent || c.kind == CacheKind::indexer || c.kind == CacheKind::waiting ||
      c.kv_heads == 0)
    return 1;
  return std::min(c.kv_heads, shards);
}

std::string cache_format(const Scenario& s) {
  const CachePrecision kv = cache_precision(s);
  std::string text = kv.name();
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind == CacheKind::waiting || !in_own_format(s, c)) continue;
    if (c.kind == CacheKind::latent) {
      text = fmt::format("fp8 ({} bytes an entry)", own_entry(s, c).bytes);
      break;
    }
    text = fmt::format("{}, index keys of {} bytes", kv.name(), own_entry(s, c).bytes);
  }
  const std::string reason = cache_reason(*s.weights, *s.runtime, kv);
  return reason.empty() ? text : fmt::format("{}, {}", text, reason);
}

}  // namespace headroom::model
