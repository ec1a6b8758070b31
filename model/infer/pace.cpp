// Seconds of each pass of one copy.
#include "model/infer/pace.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/units.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/timeline/passes.hpp"

namespace headroom::model {
namespace {

constexpr double normal_95th = 1.6448536269514722;

double log_variance(const Lengths& lengths) {
  if (lengths.p95 == lengths.p50) return 0;
  const double s = std::log(lengths.p95 / lengths.p50) / normal_95th;
  return s * s;
}

/// Prompts in one pass if `arriving` new requests meet a step in the mean. The chunk of a pass
/// limits them.
double prompts_together(const Scenario& s, Size chunk, double arriving) {
  const double room =
      chunk > 0 ? static_cast<double>(chunk) / static_cast<double>(s.prompt_tokens) : arriving;
  return std::max(1.0, std::min(arriving, room));
}

/// Seconds by which the prompts of the scenario of `joint` hold up `decoding` sequences. A separate
/// prefill holds them up for `alone`, its whole time. Otherwise prompts go through decode steps,
/// which take longer: weights are read and kernels launched once for both. `step`: seconds of one
/// with empty caches.
double prefill_delay(const Scenario& s, const PassTimes& joint, Size decoding, double alone,
                     double step) {
  if (s.runtime->serving.separate_prefill) return alone;
  const double longer =
      joint.prefill(s.prompt_tokens, decoding).value() - joint.parts(s.prompt_tokens) * step;
  return std::clamp(longer, 0.0, alone);
}

/// Seconds that a request waits in the mean beyond its own prompt, while the first `requests` come
/// together. A pass takes their prompts in order, as many as a chunk has room for, and the k-th
/// pass ends after k of them: (1 + passes) / 2 in the mean. The schedulers of vLLM and SGLang both
/// serve in order of arrival up to a budget of tokens.
double wait_of_first(double requests, double together, double pass, double prompt) {
  const double passes = std::max(1.0, requests / together);
  return std::max(0.0, pass * (1 + passes) / 2 - prompt);
}

/// Seconds of `together` prompts. Between whole numbers of them it is interpolated: the mean of
/// passes with one more or less.
template <class SecondsOf>
double joint_prompts(double together, const SecondsOf& of) {
  const double below = std::floor(together), part = together - below;
  const double least = of(static_cast<Size>(below));
  return part == 0 ? least : std::lerp(least, of(static_cast<Size>(below) + 1), part);
}

/// Tokens that a running request has made in the mean. Long outputs run longer, so they count more.
double made_tokens(const Lengths& outputs) { return outputs.mean_square() / (2 * outputs.mean()); }

/// `asked` with the mean lengths, and with the context that the engine reserves for a request.
Scenario with_lengths(const Scenario& asked, const Lengths& prompts, const Lengths& outputs) {
  Scenario s = asked;
  s.prompt_tokens = whole_tokens(prompts.mean());
  s.output_tokens = whole_tokens(outputs.mean());
  switch (s.runtime->serving.admission) {
    case Admission::slots:
      if (s.context == 0)
        s.context = std::max(
            {whole_tokens(prompts.p95 + outputs.p95), s.default_context(), s.least_context});
      break;
    case Admission::whole:
      s.context = whole_tokens(prompts.mean() + outputs.mean());
      break;
    case Admission::as_needed:
      s.context = whole_tokens(prompts.mean() + made_tokens(outputs));
      break;
  }
  return s;
}

/// True if `s` surely has the plan of `asked`, which holds all its requests. Both have the same
/// sizes, or `s` has less under a division of matrices, which does not depend on sizes. Prompts
/// change their passes at longest_whole.
bool has_plan_of(const Scenario& s, const Scenario& asked) {
  const Size own = s.cached_tokens(), other = asked.cached_tokens();
  if (own == other && s.prompt_tokens == asked.prompt_tokens) return true;
  return s.runtime->parallel.split == Split::tensors && own <= other &&
         s.prompt_tokens <= asked.prompt_tokens && (own > longest_whole) == (other > longest_whole);
}

/// Sets the batch of `s` to the requests that run at once, and `plan` to their plan. Returns 0 if
/// none fits.
Size admit(Scenario& s, Plan& plan, const Setup& setup) {
  const Size asked = s.most_at_once();
  const auto holds = [&](Size batch) {
    s.batch = batch;
    plan = place(Uses(s, setup), 1.0);
    return plan.feasible();
  };
  const Size running = holds(asked) ? asked : largest(asked, holds);
  if (running > 0 && s.batch != running) holds(running);
  return running;
}

}  // namespace

double Lengths::mean() const { return p95 == p50 ? p50 : p50 * std::exp(log_variance(*this) / 2); }
double Lengths::mean_square() const {
  return p95 == p50 ? p50 * p50 : mean() * mean() * std::exp(log_variance(*this));
}
double Lengths::variance_share() const { return std::expm1(log_variance(*this)); }
double Lengths::at(double deviations) const {
  return p50 * std::exp(deviations * std::sqrt(log_variance(*this)));
}

Lengths lengths_of(Size median, Size p95) {
  const auto p50 = static_cast<double>(std::max<Size>(1, median));
  return {p50, std::max(p50, static_cast<double>(p95))};
}

Size whole_tokens(double count) { return std::max<Size>(1, std::llround(count)); }

Pace::Pace(const Scenario& asked, const Lengths& prompts, const Lengths& outputs, Block& block,
           const Plan* fitted)
    : one_(with_lengths(asked, prompts, outputs)) {
  Scenario& s = one_;
  if (fitted != nullptr && s.batch <= s.most_at_once() && has_plan_of(s, asked))
    plan_ = *fitted, running = s.batch;
  else
    running = admit(s, plan_, block.setup);
  if (running == 0) return;
  Speeds& speeds = block.speeds;
  speeds.know_passes(s, plan_);
  speeds_ = &speeds;
  stages = std::max<Size>(1, plan_.stages);
  const Size share = divided_up(running, stages);
  others = static_cast<double>(share - 1);
  prompt_tokens = s.prompt_tokens;
  output_tokens = static_cast<double>(s.output_tokens);
  request = s.runtime->serving.request_s.value * std::sqrt(static_cast<double>(running));
  CachedTokens cached = mean_tokens(s);
  cached.self = whole_tokens(made_tokens(outputs) + (cached.source > 0 ? 0 : prompts.mean()));
  cached_tokens = static_cast<double>(cached.self);
  const PassTimes times(s, speeds, plan_);
  s.batch = share;
  step = times.decode(cached).total.value();
  const bool meets = !s.runtime->serving.separate_prefill;
  const double empty_step = meets ? times.decode({}).total.value() : 0;
  s.batch = 1;
  prompt = times.prefill(prompt_tokens).value();
  const Size chunk = speeds.chunk.of(s);
  const double together = prompts_together(s, chunk, others / output_tokens);
  const auto pass_of = [&](Size number) {
    s.batch = number;
    const double time = number == 1 ? prompt : times.prefill(prompt_tokens).value();
    s.batch = 1;
    return time;
  };
  const auto delay_of = [&](Size number) {
    const double alone = pass_of(number);
    s.batch = number;
    const double time = prefill_delay(s, times, share, alone, empty_step);
    s.batch = 1;
    return time;
  };
  const double joint = joint_prompts(together, pass_of);
  another = joint / together;
  delay = joint_prompts(together, delay_of) / together;
  if (others == 0) return;
  const double most = prompts_together(s, chunk, others + 1);
  const double pass = most == together ? joint : joint_prompts(most, pass_of);
  const double first = wait_of_first(others + 1, most, pass, prompt);
  waits = std::max(s.runtime->serving.queue.value * first, others / output_tokens * another);
}

double Pace::prompt_of(double length) const {
  const Size own = whole_tokens(length);
  if (own == prompt_tokens) return prompt;
  speeds_->know_passes(one_, plan_);
  return PassTimes(one_, *speeds_, plan_).prefill(own).value();
}

}  // namespace headroom::model
