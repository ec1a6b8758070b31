#include "model/infer/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/placement/asked_sequences.hpp"

namespace headroom::model {
namespace {

/// Seconds from the first token, which comes after `first` seconds, to the last.
///
///   x = steps + prompts * x / (first + x), and first + x >= least
///
/// `steps` are seconds of decoding, `prompts` seconds of other requests' prompts. A request meets
/// those evenly while it stays, and some fall into the time before its first token.
double after_first(double first, double steps, double prompts, double least) {
  const double b = steps + prompts - first;
  const double x = (b + std::sqrt(b * b + 4 * first * steps)) / 2;
  return std::max(x, least - first);
}

}  // namespace

Traffic traffic(const Scenario& asked, const Lengths& prompts, const Lengths& outputs, Block& block,
                const Plan* fitted) {
  const Pace pace(asked, prompts, outputs, block, fitted);
  if (pace.running == 0) return {};
  const double met = pace.others * pace.delay;
  const double beside = pace.request + pace.waits + pace.step;
  const double steps = (pace.output_tokens - 1) * pace.step;
  const double after =
      steps > 0 ? after_first(beside + pace.prompt, steps, met, (pace.others + 1) * pace.another)
                : 0;
  const double tpot = steps > 0 ? after / (pace.output_tokens - 1) : pace.step + met;
  const double runs = beside + pace.prompt + after;
  const auto running = static_cast<double>(pace.running);
  const double waits = (static_cast<double>(asked.batch) - running) / running * runs;
  const auto at = [&](double prompt_tokens, double output_tokens) {
    const double ttft = waits + beside + pace.prompt_of(prompt_tokens);
    return RequestTimes{Seconds(ttft), Seconds(ttft + (output_tokens - 1) * tpot)};
  };
  Traffic t;
  t.running = pace.running;
  t.ttft = Seconds(waits + beside + pace.prompt);
  t.tpot = Seconds(tpot);
  t.total = Seconds(waits + runs);
  t.requests_s = running / runs;
  t.output_tokens_s = t.requests_s * pace.output_tokens;
  t.prompt_share = std::min(1.0, t.requests_s * pace.another / static_cast<double>(pace.stages));
  t.cached_tokens = pace.cached_tokens;
  t.at_p50 = at(prompts.p50, outputs.p50);
  t.at_p95 = at(prompts.p95, outputs.p95);
  return t;
}

Traffic traffic(const Scenario& asked, const Lengths& prompts, const Lengths& outputs) {
  Block block(asked);
  return traffic(as_started(asked, block.setup), prompts, outputs, block);
}

Traffic traffic(const Scenario& s) {
  return traffic(s, lengths_of(s.prompt_tokens), lengths_of(s.output_tokens));
}

}  // namespace headroom::model
