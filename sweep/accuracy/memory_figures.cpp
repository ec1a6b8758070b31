#include "sweep/accuracy/memory_figures.hpp"

#include "model/infer/memory/activation.hpp"

namespace headroom::sweep {

using model::Plan;
using model::Scenario;

namespace {

double on_cards(const Scenario& s, const Plan& plan, Statistic statistic) {
  double sum = 0;
  for (Size card = 0; card < plan.cards; ++card) {
    const model::CardUse use = card_use(s, plan, card);
    sum += real_count(use.weights + use.kv_cache);
    // Buffers of kernels stay once they are made.
    if (statistic == Statistic::resident_allocated)
      sum += real_count(workspace(s, static_cast<std::size_t>(card)) + use.overhead_weights);
    if (statistic == Statistic::allocated_peak) sum += real_count(use.activations);
    if (statistic == Statistic::card_used) sum += real_count(use.work());
  }
  return sum;
}

}  // namespace

double bytes_of(const ScoredRow& subject, const Scenario& s, const Plan& plan) {
  switch (subject.statistic) {
    case Statistic::weights:
      return real_count(s.weights->total);
    case Statistic::card_weights:
    case Statistic::loaded: {
      const auto card = static_cast<Size>(subject.index);
      if (card >= plan.cards) return 0;
      // Bytes that stay there, without bytes that pass through.
      const model::CardUse use = card_use(s, plan, card);
      return real_count(use.weights + use.overhead_weights -
                        (card == 0 ? plan.streaming_buffer : Bytes(0)));
    }
    case Statistic::all_but_cache: {
      const model::CardUse use = card_use(s, plan, 0);
      return real_count(use.total() - use.kv_cache);
    }
    case Statistic::card_cache: {
      // From tokens of the whole pool, as engines log them: each counts once in every layer.
      Scenario logged = s;
      model::Engine whole = *s.runtime;
      if (whole.cache.windows == model::Windows::hybrid_kv_pool)
        whole.cache.windows = model::Windows::whole;
      logged.runtime = &whole;
      return real_count(card_use(logged, plan, 0).kv_cache);
    }
    case Statistic::host_weights:
      return real_count(host_use(s, plan).weights);
    case Statistic::host_used:
      return real_count(host_use(s, plan).total());
    default:
      return on_cards(s, plan, subject.statistic);
  }
}

double work_of(const ScoredRow& subject, const Scenario& s, const Plan& plan) {
  double sum = 0;
  for (Size card = 0; card < plan.cards; ++card) {
    const model::CardUse use = card_use(s, plan, card);
    if (subject.statistic == Statistic::allocated_peak) sum += real_count(use.activations);
    if (subject.statistic == Statistic::card_used ||
        (subject.statistic == Statistic::all_but_cache && card == 0))
      sum += real_count(use.uncertain_work());
  }
  return subject.statistic == Statistic::host_used ? real_count(host_use(s, plan).process) : sum;
}

bool has_work(Statistic statistic) {
  return statistic == Statistic::allocated_peak || statistic == Statistic::card_used ||
         statistic == Statistic::all_but_cache || statistic == Statistic::host_used ||
         is_left(statistic);
}

}  // namespace headroom::sweep
