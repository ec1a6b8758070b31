#include "model/infer/memory/cache_format.hpp"

#include <fmt/format.h>

#include "model/engine/default_cache.hpp"

namespace headroom::model {

const Precision& cache_precision(const Scenario& s) {
  return s.kv_precision != nullptr ? *s.kv_precision : default_cache(*s.weights, *s.runtime);
}

bool in_own_format(const Scenario& s, const CacheClass& c) {
  if (c.kind == CacheKind::waiting) return true;
  if (!s.runtime->cache.sparse_in_fp8 || c.entry_bytes == 0) return false;
  return c.kind == CacheKind::indexer || cache_precision(s).name == "fp8";
}

const std::vector<Size>& fp32_before(const Scenario& s, const CacheClass& c) {
  return s.runtime->cache.scan_states == ScanStates::fp32 ? c.scanned_before : c.fp32_before;
}

const std::vector<Size>& elements_of_state(const Scenario& s, const CacheClass& c) {
  return s.runtime->cache.newest_input ? c.state_before : c.carried_before;
}

std::string cache_format(const Scenario& s) {
  const Precision& kv = cache_precision(s);
  std::string text(kv.name);
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind == CacheKind::waiting || !in_own_format(s, c)) continue;
    if (c.kind == CacheKind::latent) {
      text = fmt::format("fp8 ({} bytes an entry)", c.entry_bytes);
      break;
    }
    text = fmt::format("{}, index keys of {} bytes", kv.name, c.entry_bytes);
  }
  const std::string reason = cache_reason(*s.weights, *s.runtime, kv);
  return reason.empty() ? text : fmt::format("{}, {}", text, reason);
}

}  // namespace headroom::model
