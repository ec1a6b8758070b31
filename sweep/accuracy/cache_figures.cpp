#include "sweep/accuracy/cache_figures.hpp"

#include <algorithm>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/cache_room.hpp"

namespace headroom::sweep {

bool is_of_start_log(Statistic statistic) {
  return statistic >= Statistic::cache_token && statistic <= Statistic::loaded;
}

namespace {

/// One sequence, with as many pages of recurrent state as the row says.
struct Logged {
  Logged(const ScoredRow& subject, const model::Scenario& s) : engine(*s.runtime), scenario(s) {
    if (subject.index > 0) engine.cache.state_pages = static_cast<Size>(subject.index);
    scenario.batch = 1;
    scenario.runtime = &engine;
  }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  std::optional<model::CacheRoom> room() const {
    const auto found = cache_room(scenario, place(scenario, 1.0));
    return found && found->available > Bytes(0) ? found : std::nullopt;
  }

  model::Engine engine;
  model::Scenario scenario;
};

}  // namespace

std::optional<double> uncertain_beside_cache(const ScoredRow& subject) {
  const Logged logged(subject, subject.scenario);
  const auto room = logged.room();
  if (!room) return std::nullopt;
  if (subject.statistic != Statistic::card_left) return real_count(room->uncertain);
  return real_count(room->uncertain + workspace(logged.scenario, 0));
}

std::optional<double> cache_figure(const ScoredRow& subject, const model::Scenario& scenario) {
  const Logged logged(subject, scenario);
  const model::Scenario& s = logged.scenario;
  if (subject.statistic == Statistic::cache_token) {
    const Size shards = std::max<Size>(s.tensor_parallel, 1);
    const model::CacheBytes cache(s, reserved_tokens(s), shards);
    const Size layers = std::ssize(s.weights->layer) / std::max<Size>(s.pipeline_parallel, 1);
    return real_count(cache(0, layers)) / static_cast<double>(std::max<Size>(s.cached_tokens(), 1));
  }
  const auto room = logged.room();
  if (!room) return std::nullopt;
  switch (subject.statistic) {
    case Statistic::cache_left:
      return real_count(room->available);
    case Statistic::card_left:
      return real_count(room->left);
    case Statistic::cache_tokens:
      return static_cast<double>(room->tokens);
    default:
      return room->sequences;
  }
}

}  // namespace headroom::sweep
