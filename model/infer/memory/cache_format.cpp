#include "model/infer/memory/cache_format.hpp"

#include <fmt/format.h>

namespace headroom::model {

bool in_own_format(const Scenario& s, const CacheClass& c) {
  if (c.kind == CacheKind::waiting) return true;
  if (!s.runtime->cache.sparse_in_fp8 || c.entry_bytes == 0) return false;
  return c.kind == CacheKind::indexer || s.kv_precision->name == "fp8" ||
         (s.weights->model->profile.compressed && s.kv_precision->name == "fp16");
}

std::string cache_format(const Scenario& s) {
  bool index_keys = false;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind == CacheKind::waiting || !in_own_format(s, c)) continue;
    if (c.kind == CacheKind::latent) return fmt::format("fp8 ({} bytes an entry)", c.entry_bytes);
    index_keys = true;
  }
  return fmt::format("{}{}", s.kv_precision->name, index_keys ? ", index keys in fp8" : "");
}

}  // namespace headroom::model
