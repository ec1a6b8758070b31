#include "model/infer/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/memory/activation.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/timeline/experts_touched.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/speeds.hpp"

namespace headroom::model {
namespace {

constexpr double normal_95th = 1.6448536269514722;

double log_variance(const Lengths& lengths) {
  const double s = std::log(lengths.p95 / lengths.p50) / normal_95th;
  return s * s;
}

/// Prompts in one pass if `arriving` new requests meet a step in the mean. The chunk of a pass
/// limits them.
double prompts_together(const Scenario& s, double arriving) {
  const auto chunk = static_cast<double>(prefill_chunk(s));
  const double room = chunk > 0 ? chunk / static_cast<double>(s.prompt_tokens) : arriving;
  return std::max(1.0, std::min(arriving, room));
}

/// Seconds by which the prompts of `joint` hold up the sequences of `share`. A separate prefill
/// holds them up for `alone`, its whole time. Otherwise prompts go through decode steps, which take
/// longer: weights are read and kernels launched once for both.
double prefill_delay(const Scenario& joint, const Scenario& share, const Speeds& speeds,
                     const Plan& plan, double alone) {
  if (joint.runtime->serving.separate_prefill) return alone;
  Pass both = prefill_pass(joint, joint.prompt_tokens);
  const double steps = both.weight_reads, tokens = steps * static_cast<double>(share.batch);
  both.tokens += tokens;
  both.logit_rows += tokens;
  both.touched = experts_touched(joint.weights->model->profile, both.tokens / steps);
  const double longer = prefill(joint, speeds, plan, TimedPass(joint, speeds, both)).total.value() -
                        steps * decode_step(share, speeds, plan, {}).total.value();
  return std::clamp(longer, 0.0, alone);
}

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

/// Seconds of prompts that go through together, and by which they hold up running sequences.
struct JointPrompts {
  double time = 0, delay = 0;
};

/// Between whole numbers of prompts both are interpolated: the mean of passes with one more or
/// less.
template <class Joint>
JointPrompts joint_prompts(double together, const Joint& of) {
  const double below = std::floor(together), part = together - below;
  const JointPrompts least = of(static_cast<Size>(below));
  if (part == 0) return least;
  const JointPrompts most = of(static_cast<Size>(below) + 1);
  return {std::lerp(least.time, most.time, part), std::lerp(least.delay, most.delay, part)};
}

Size whole_tokens(double count) { return std::max<Size>(1, std::llround(count)); }

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
        s.context = std::max(whole_tokens(prompts.p95 + outputs.p95), s.default_context());
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

/// Sets the batch of `s` to the requests that run at once, at most as many as asked for, and `plan`
/// to their plan. Returns 0 if none fits.
Size admit(Scenario& s, Plan& plan) {
  const Size asked = s.batch;
  const auto holds = [&](Size batch) {
    s.batch = batch;
    plan = place(s, 1.0);
    return plan.feasible();
  };
  const Size running = holds(asked) ? asked : largest(asked, holds);
  if (running > 0 && s.batch != running) holds(running);
  return running;
}

}  // namespace

double Lengths::mean() const { return p50 * std::exp(log_variance(*this) / 2); }
double Lengths::mean_square() const { return mean() * mean() * std::exp(log_variance(*this)); }

Traffic traffic(const Scenario& asked, const Lengths& prompts, const Lengths& outputs,
                Speeds& speeds) {
  Scenario s = with_lengths(asked, prompts, outputs);
  Plan plan;
  const Size running = admit(s, plan);
  if (running == 0) return {};
  speeds.know(s, plan);
  Scenario one = s;
  one.batch = 1;
  const Size stages = std::max<Size>(1, plan.stages);
  Scenario share = s;
  share.batch = (running + stages - 1) / stages;
  const double prompt = prefill(one, speeds, plan, s.prompt_tokens).total.value();
  const auto prefill_of = [&](double length) {
    const Size own = whole_tokens(length);
    return own == s.prompt_tokens ? prompt : prefill(one, speeds, plan, own).total.value();
  };
  CachedTokens cached = mean_tokens(s);
  cached.self = whole_tokens(made_tokens(outputs) + (cached.source > 0 ? 0 : prompts.mean()));
  const double step = decode_step(share, speeds, plan, cached).total.value();
  const double others = static_cast<double>(share.batch - 1);
  const double mean_output = static_cast<double>(s.output_tokens);
  const double together = prompts_together(s, others / mean_output);
  const JointPrompts joint = joint_prompts(together, [&](Size number) {
    Scenario prompts_of = one;
    prompts_of.batch = number;
    const double time =
        number == 1 ? prompt : prefill(prompts_of, speeds, plan, s.prompt_tokens).total.value();
    return JointPrompts{time, prefill_delay(prompts_of, share, speeds, plan, time)};
  });
  const double another = joint.time / together;
  const double met = others * joint.delay / together;
  const double before = std::max(s.runtime->serving.queue.value, 1 / mean_output) * others;
  const double beside =
      s.runtime->serving.request_s.value * std::sqrt(static_cast<double>(running)) +
      before * another + step;
  const double steps = (mean_output - 1) * step;
  const double after =
      steps > 0 ? after_first(beside + prompt, steps, met, (others + 1) * another) : 0;
  const double tpot = steps > 0 ? after / (mean_output - 1) : step + met;
  const double runs = beside + prompt + after;
  const double waits =
      static_cast<double>(asked.batch - running) / static_cast<double>(running) * runs;
  const auto at = [&](double prompt_tokens, double output_tokens) {
    const double ttft = waits + beside + prefill_of(prompt_tokens);
    return RequestTimes{Seconds(ttft), Seconds(ttft + (output_tokens - 1) * tpot)};
  };
  Traffic t;
  t.running = running;
  t.ttft = Seconds(waits + beside + prompt);
  t.tpot = Seconds(tpot);
  t.total = Seconds(waits + runs);
  t.requests_s = static_cast<double>(running) / runs;
  t.output_tokens_s = t.requests_s * mean_output;
  t.prompt_share = std::min(1.0, t.requests_s * another / static_cast<double>(stages));
  t.cached_tokens = static_cast<double>(cached.self);
  t.at_p50 = at(prompts.p50, outputs.p50);
  t.at_p95 = at(prompts.p95, outputs.p95);
  return t;
}

Traffic traffic(const Scenario& s, const Lengths& prompts, const Lengths& outputs) {
  Speeds speeds(s);
  return traffic(s, prompts, outputs, speeds);
}

Traffic traffic(const Scenario& s) {
  const auto alike = [](Size tokens) {
    const auto count = static_cast<double>(std::max<Size>(1, tokens));
    return Lengths{count, count};
  };
  return traffic(s, alike(s.prompt_tokens), alike(s.output_tokens));
}

}  // namespace headroom::model
