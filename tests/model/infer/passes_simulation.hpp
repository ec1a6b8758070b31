// Requests that go through an engine pass by pass, at the seconds that model/infer/pace.hpp gives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <vector>

#include "model/infer/memory/activation.hpp"
#include "model/infer/queue.hpp"

namespace headroom::test {

/// Seconds; percentiles over requests.
struct Simulated {
  double ttft_p95 = 0, tpot_p95 = 0, total_p99 = 0, ttft = 0, tpot = 0, total = 0;
};

/// A pass takes prompts in order, as far as a chunk and the slots have room, the last one in part.
/// It makes a token of every running request too, unless prefill has passes of its own.
class PassesSimulation {
 public:
  PassesSimulation(const model::Scenario& s, const model::Arrivals& arrivals, Size slots)
      : scenario_(s),
        block_(s),
        prompts_(model::lengths_of(s.prompt_tokens, s.prompt_tokens_p95)),
        outputs_(model::lengths_of(s.output_tokens, s.output_tokens_p95)),
        arrivals_(arrivals),
        slots_(slots),
        gap_(arrivals.burstiness, 1 / arrivals.burstiness),
        pause_(1 / std::max(arrivals.think, 1e-9)) {
    if (!people()) coming_.push(gap_(random_) / arrivals_.requests_s);
    for (int i = 0; people() && i < static_cast<int>(arrivals.users); ++i)
      coming_.push(pause_(random_));
  }

  Simulated run(std::size_t requests) {
    while (totals_.size() < requests) {
      if (waiting_.empty() && running_.empty()) now_ = std::max(now_, coming_.top());
      arrive();
      pass();
    }
    return {percentile(ttfts_, 0.95),
            percentile(tpots_, 0.95),
            percentile(totals_, 0.99),
            mean(ttfts_),
            mean(tpots_),
            mean(totals_)};
  }

 private:
  struct Request {
    double came;
    Size prompt, output;  ///< tokens that are left
    double first = 0;
    Size made = 0;
  };

  bool people() const { return arrivals_.requests_s <= 0; }
  const model::Pace& pace(Size number) {
    const auto found = known_.find(number);
    if (found != known_.end()) return found->second;
    model::Scenario s = scenario_;
    s.batch = number;
    return known_.emplace(number, model::Pace(s, prompts_, outputs_, block_)).first->second;
  }

  void arrive() {
    while (!coming_.empty() && coming_.top() <= now_) {
      const double came = coming_.top();
      coming_.pop();
      waiting_.push_back({came, model::whole_tokens(prompts_.at(normal_(random_))),
                          model::whole_tokens(outputs_.at(normal_(random_)))});
      if (!people()) coming_.push(came + gap_(random_) / arrivals_.requests_s);
    }
  }

  void pass() {
    const auto decoding = static_cast<Size>(running_.size());
    Size room = model::prefill_chunk(scenario_), taken = 0;
    while (room > 0 && !waiting_.empty() && static_cast<Size>(running_.size()) < slots_) {
      Request& next = waiting_.front();
      const Size part = std::min(room, next.prompt);
      next.prompt -= part;
      room -= part;
      taken += part;
      if (next.prompt > 0) break;
      running_.push_back(next);
      waiting_.pop_front();
    }
    const bool apart = taken > 0 && scenario_.runtime->serving.separate_prefill;
    const model::Pace& all = pace(std::max<Size>(1, static_cast<Size>(running_.size())));
    const double prompts = static_cast<double>(taken) / static_cast<double>(all.prompt_tokens);
    if (apart || decoding == 0)
      now_ += prompts * (prompts <= 1 ? all.prompt : std::min(all.prompt, all.another));
    else
      now_ += pace(decoding).step + prompts * all.delay;
    for (std::size_t i = apart ? static_cast<std::size_t>(decoding) : 0; i < running_.size(); ++i)
      token(running_[i], all.request);
    std::erase_if(running_, [](const Request& r) { return r.made >= r.output; });
  }

  void token(Request& r, double fixed) {
    if (++r.made == 1) r.first = now_;
    if (r.made < r.output) return;
    ttfts_.push_back(r.first - r.came + fixed);
    if (r.output > 1) tpots_.push_back((now_ - r.first) / static_cast<double>(r.output - 1));
    totals_.push_back(now_ - r.came + fixed);
    if (people()) coming_.push(now_ + pause_(random_));
  }

  /// Without the first tenth, which fills the engine.
  static std::vector<double> settled(const std::vector<double>& all) {
    return {all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10), all.end()};
  }
  static double percentile(const std::vector<double>& of, double share) {
    std::vector<double> all = settled(of);
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size()));
    std::nth_element(all.begin(), all.begin() + at, all.end());
    return all[static_cast<std::size_t>(at)];
  }
  static double mean(const std::vector<double>& of) {
    const std::vector<double> all = settled(of);
    return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  }

  model::Scenario scenario_;
  model::Block block_;
  model::Lengths prompts_, outputs_;
  model::Arrivals arrivals_;
  Size slots_;
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
  std::gamma_distribution<double> gap_;
  std::exponential_distribution<double> pause_;
  std::map<Size, model::Pace> known_;
  std::priority_queue<double, std::vector<double>, std::greater<>> coming_;
  std::deque<Request> waiting_;
  std::vector<Request> running_;
  std::vector<double> ttfts_, tpots_, totals_;
  double now_ = 0;
};

inline Simulated simulated(const model::Scenario& s, const model::Arrivals& arrivals, Size slots,
                           std::size_t requests = 10'000) {
  return PassesSimulation(s, arrivals, slots).run(requests);
}

}  // namespace headroom::test
