#include "sweep/accuracy/cache_figures.hpp"

#include <algorithm>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/cache_room.hpp"

namespace headroom::sweep {

bool is_of_start_log(Statistic statistic) {
  return statistic >= Statistic::cache_token && statistic <= Statistic::loaded;
}

std::optional<double> cache_figure(const ScoredRow& subject, const model::Scenario& scenario) {
  model::Scenario s = scenario;
  s.batch = 1;
  model::Engine engine = *s.runtime;
  if (subject.index > 0) engine.cache.state_pages = static_cast<Size>(subject.index);
  s.runtime = &engine;
  if (subject.statistic == Statistic::cache_token) {
    const Size shards = std::max<Size>(s.tensor_parallel, 1);
    const model::CacheBytes cache(s, reserved_tokens(s), shards);
    const Size layers = std::ssize(s.weights->layer) / std::max<Size>(s.pipeline_parallel, 1);
    return real_count(cache(0, layers)) / static_cast<double>(std::max<Size>(s.cached_tokens(), 1));
  }
  const auto room = cache_room(s, place(s, 1.0));
  if (!room || room->available <= Bytes(0)) return std::nullopt;
  return subject.statistic == Statistic::cache_left ? real_count(room->available) : room->sequences;
}

}  // namespace headroom::sweep
