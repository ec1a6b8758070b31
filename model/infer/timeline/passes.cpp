#include "model/infer/timeline/passes.hpp"

#include <algorithm>

#include "model/infer/memory/activation.hpp"
#include "model/infer/timeline/segments.hpp"

namespace headroom::model {
namespace {

/// True if kernels are launched one by one although the engine captures graphs. It captures decode
/// steps up to some length, and graphs can be turned off.
bool is_eager(const Scenario& s, const Pass& pass) {
  const Engine& r = *s.runtime;
  return r.kernels.graphs &&
         (s.enforce_eager || pass.prompt > 0 ||
          (r.kernels.graph_tokens > 0 && pass.cached.self > r.kernels.graph_tokens));
}

void add_cards(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
               Timeline& time) {
  if (s.runtime->parallel.split == Split::tensors)
    add_tensor_split(s, speeds, plan, pass, time);
  else if (by_rows(s, plan))
    add_row_split(s, speeds, plan, pass, time);
  else
    add_layer_split(s, speeds, plan, pass, time);
}

bool has_offloaded(const Plan& plan) {
  return plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card ||
         (plan.embedding != Where::card && plan.streaming_buffer > Bytes(0));
}

/// Launches hide behind kernels on cards, copies of a streaming engine behind both.
void add_launches(const Scenario& s, const Speeds& speeds, const TimedPass& timed, Timeline& time) {
  const Seconds launches = timed.launches, cards = time.of(Resource::cards),
                bus = time.of(Resource::bus);
  const Seconds hidden = speeds.launches_hide ? std::min(cards, launches) : Seconds();
  time.add(Resource::launches, launches, [&] { return Segment{.kernels = timed.kernels}; });
  time.hide(Resource::launches, hidden);
  Seconds behind;
  if (s.runtime->offload.prefetches && bus > Seconds())
    behind = std::min(bus, cards + (launches - hidden));
  time.hide(Resource::bus, behind);
  time.total = bus + time.of(Resource::disk) + time.of(Resource::link) + time.of(Resource::cpu) +
               cards + time.of(Resource::handoffs) + launches - hidden - behind;
}

/// Kernels that no graph holds take so long each, if nothing else takes longer.
void add_eager(const Scenario& s, const Plan& plan, const TimedPass& timed, Timeline& time) {
  if (!is_eager(s, timed.pass)) return;
  const double kernels =
      timed.kernels + timed.pass.weight_reads * reduce_kernels(s, timed.pass, plan.shards);
  const Seconds all(kernels * s.runtime->kernels.eager_kernel_s.value);
  const Seconds before = time.total, beyond = std::max(Seconds(), all - before);
  if (beyond <= Seconds()) return;
  time.add(Resource::eager, beyond, [&] { return Segment{.hidden = before, .kernels = kernels}; });
  time.total += beyond;
}

Timeline time_of(const Scenario& s, const Plan& plan, const Pass& pass, TimelineDetail detail) {
  const Speeds speeds(s, plan);
  return time_of(s, speeds, plan, TimedPass(s, speeds, pass), detail);
}

}  // namespace

TimedPass::TimedPass(const Scenario& s, const Speeds& speeds, const Pass& of) : pass(of) {
  const double once = speeds.kernels(s, of);
  kernels = of.weight_reads * once;
  launches = headroom::model::launches(s, of, once * speeds.kernel_s);
}

Timeline time_of(const Scenario& s, const Speeds& speeds, const Plan& plan, const TimedPass& timed,
                 TimelineDetail detail) {
  Timeline time(detail);
  add_cards(s, speeds, plan, timed.pass, time);
  if (has_offloaded(plan)) add_offloaded(s, speeds, plan, timed.pass, time);
  if (s.layer_split != nullptr || plan.host_experts.size() > 0)
    add_left_on_host(s, speeds, plan, timed.pass, time);
  add_launches(s, speeds, timed, time);
  add_eager(s, plan, timed, time);
  return time;
}

template <class F>
PassSeconds PassTimes::known(const KnownPasses::Key& key, F&& pass) const {
  return speeds_.known.of(key, [&] {
    const Timeline time =
        time_of(s_, speeds_, plan_, TimedPass(s_, speeds_, pass()), TimelineDetail::totals);
    return PassSeconds{time.total, time.least};
  });
}

PassSeconds PassTimes::decode(CachedTokens cached) const {
  return known({.kind = KnownPasses::Kind::decode, .batch = s_.batch, .cached = cached},
               [&] { return decode_pass(s_, cached); });
}

PassSeconds PassTimes::step() const {
  if (decodes(s_)) return decode(mean_tokens(s_));
  return of_prompts(tokens_of_step(s_), 0);
}

PassSeconds PassTimes::of_prompts(Size prompt, Size decoding) const {
  const Size chunk = speeds_.chunk.of(s_);
  const KnownPasses::Key key{.kind = KnownPasses::Kind::prompt,
                             .batch = s_.batch,
                             .prompt = prompt,
                             .chunk = chunk,
                             .decoding = decoding};
  return known(key, [&] {
    const Pass alone = prefill_pass(s_, prompt, chunk);
    return decoding > 0 ? joint_pass(s_, alone, decoding) : alone;
  });
}

Seconds PassTimes::prefill(Size prompt, Size decoding) const {
  const Seconds text = of_prompts(prompt, decoding).total;
  if (s_.images.count == 0) return text;
  return text + known({.kind = KnownPasses::Kind::tower, .batch = s_.batch}, [&] {
                  return tower_pass(s_);
                }).total;
}

Timeline prefill(const Scenario& s, const Speeds& speeds, const Plan& plan,
                 const TimedPass& prompts, TimelineDetail detail) {
  Timeline time = time_of(s, speeds, plan, prompts, detail);
  if (s.images.count > 0)
    time.append(time_of(s, speeds, plan, TimedPass(s, speeds, tower_pass(s)), detail));
  return time;
}
Timeline prefill(const Scenario& s, const Speeds& speeds, const Plan& plan, Size prompt) {
  return prefill(s, speeds, plan,
                 TimedPass(s, speeds, prefill_pass(s, prompt, speeds.chunk.of(s))));
}
Timeline prefill(const Scenario& s, const Plan& plan, Size prompt, TimelineDetail detail) {
  const Speeds speeds(s, plan);
  return prefill(s, speeds, plan, TimedPass(s, speeds, prefill_pass(s, prompt, speeds.chunk.of(s))),
                 detail);
}

Timeline decode_step(const Scenario& s, const Speeds& speeds, const Plan& plan,
                     CachedTokens tokens) {
  return time_of(s, speeds, plan, TimedPass(s, speeds, decode_pass(s, tokens)));
}
Timeline decode_step(const Scenario& s, const Plan& plan, CachedTokens tokens,
                     TimelineDetail detail) {
  return time_of(s, plan, decode_pass(s, tokens), detail);
}
Timeline propose_step(const Scenario& d, const Plan& plan, Size modules, TimelineDetail detail) {
  Pass pass = decode_pass(d, mean_tokens(d));
  const Size layers = pass.layers.size();
  if (layers % modules == 0) pass.layers.last = pass.layers.first + layers / modules;
  return time_of(d, plan, pass, detail);
}
Timeline check_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Size each,
                    TimelineDetail detail) {
  return time_of(s, plan, decode_pass(s, tokens, each), detail);
}
Timeline step(const Scenario& s, const Plan& plan, TimelineDetail detail) {
  return time_of(s, plan, step_pass(s), detail);
}

}  // namespace headroom::model
