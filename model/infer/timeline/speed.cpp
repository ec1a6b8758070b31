#include "model/infer/timeline/speed.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/infer/timeline/stretches.hpp"

namespace headroom::model {
namespace {

/// Whether kernels are launched one by one although the engine captures graphs: those are of decode
/// steps, up to some length, and can be turned off.
bool is_eager(const Scenario& s, const Pass& pass) {
  const Engine& r = *s.runtime;
  return r.kernels.graphs &&
         (s.enforce_eager || pass.prompt > 0 ||
          (r.kernels.graph_tokens > 0 && pass.cached.self > r.kernels.graph_tokens));
}

/// Seconds of what is streamed that go on behind cards and, of launches, `launches` beyond these.
double hide_stream(const Scenario& s, const PassTime& time, double launches, Record* record) {
  if (!s.runtime->offload.prefetches || time.stream <= 0) return 0;
  const double behind = std::min(time.stream, time.cards + launches), share = behind / time.stream;
  if (record == nullptr) return behind;
  for (Stretch& stretch : *record)
    if (stretch.over == Over::bus) {
      stretch.hidden = share * stretch.seconds;
      stretch.seconds -= stretch.hidden;
    }
  return behind;
}

}  // namespace

TimedPass::TimedPass(const Scenario& s, const Speeds& speeds, const Pass& of) : pass(of) {
  const double once = speeds.kernels(s, of);
  kernels = of.weight_reads * once;
  launches = headroom::model::launches(s, of, once * speeds.kernel_s);
}

PassTime time_of(const Scenario& s, const Speeds& speeds, const Plan& plan, const TimedPass& timed,
                 Record* record) {
  const Pass& pass = timed.pass;
  PassTime time;
  if (s.runtime->parallel.split == Split::tensors)
    add_tensor_split(s, speeds, plan, pass, time, record);
  else if (by_rows(s, plan))
    add_row_split(s, speeds, plan, pass, time, record);
  else
    add_layer_split(s, speeds, plan, pass, time, record);
  if (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card ||
      (plan.embedding != Where::card && plan.streaming_buffer > Bytes(0)))
    add_offloaded(s, speeds, plan, pass, time, record);
  if (s.layer_split != nullptr) add_left_on_host(s, speeds, plan, pass, time, record);
  time.launches = timed.launches;
  const double hidden = speeds.launches_hide ? std::min(time.cards, time.launches) : 0;
  time.total = time.stream + time.disk + time.reduce + time.cpu + time.cards + time.crossings +
               time.launches - hidden - hide_stream(s, time, time.launches - hidden, record);
  const double before = time.total;
  const double eager =
      is_eager(s, pass) ? timed.kernels + pass.weight_reads * reduce_kernels(s, pass, plan.shards)
                        : 0;
  time.eager = std::max(0.0, eager * s.runtime->kernels.eager_kernel_s.value - before);
  time.total += time.eager;
  if (record == nullptr) return time;
  record->push_back({.over = Over::launches,
                     .seconds = time.launches - hidden,
                     .hidden = hidden,
                     .kernels = timed.kernels});
  if (time.eager > 0)
    record->push_back(
        {.over = Over::eager, .seconds = time.eager, .hidden = before, .kernels = eager});
  return time;
}

namespace {

/// The expected maximum, over `groups` equal groups of `each` experts, of those of `touched` ones
/// that are in a group. Of one group P(n) is hypergeometric; of the maximum as if groups were
/// independent 1 - P(at most n)^groups, and since they are not, its distance from the mean times
/// sqrt(groups / (groups - 1)), as for exchangeable normal variables of a fixed sum. Within 6 % of
/// the exact value (tests/model/expert_spread_test.cpp).
double most_of_a_group(Size experts, Size groups, Size touched) {
  const Size each = (experts + groups - 1) / groups;
  const Size first = std::max<Size>(0, touched - (experts - each)), last = std::min(each, touched);
  double sum = 0, weight = 1;
  std::vector<double> up_to;
  for (Size n = first; n <= last; ++n) {
    up_to.push_back(sum += weight);
    weight *= static_cast<double>((each - n) * (touched - n)) /
              static_cast<double>((n + 1) * (experts - each - touched + n + 1));
  }
  auto most = static_cast<double>(first);
  for (std::size_t i = 0; i + 1 < up_to.size(); ++i)
    most += 1 - std::pow(up_to[i] / sum, static_cast<double>(groups));
  const double mean = static_cast<double>(touched * each) / static_cast<double>(experts);
  const auto n = static_cast<double>(groups);
  const double spread = mean + (most - mean) * std::sqrt(n / (n - 1));
  return std::clamp(spread, touched > 0 ? 1.0 : 0.0, static_cast<double>(last));
}

}  // namespace

double experts_touched(const Profile& profile, double tokens, Size groups) {
  const Routing r = profile.routing;
  if (r.experts <= 0 || r.used >= r.experts) return 1.0;
  const double share = static_cast<double>(r.used) / static_cast<double>(r.experts);
  const double touched = tokens <= 1.0 ? share : 1.0 - std::pow(1.0 - share, tokens);
  if (groups == 1) return touched;
  const double count = touched * static_cast<double>(r.experts);
  const auto below = static_cast<Size>(count);
  const double at = count - static_cast<double>(below);
  double most = (1 - at) * most_of_a_group(r.experts, groups, below);
  if (at > 0) most += at * most_of_a_group(r.experts, groups, below + 1);
  return most / static_cast<double>((r.experts + groups - 1) / groups);
}

CachedTokens mean_tokens(const Scenario& s) {
  const Size half = (s.output_tokens + 1) / 2;
  if (s.weights->model->encoder_decoder) return {.self = half, .source = s.prompt_tokens};
  return {.self = s.prompt_tokens + half, .source = 0};
}

namespace {

PassTime time_of(const Scenario& s, const Plan& plan, const Pass& pass, Record* record) {
  const Speeds speeds(s, plan);
  return time_of(s, speeds, plan, TimedPass(s, speeds, pass), record);
}

}  // namespace

PassTime decode_step(const Scenario& s, const Speeds& speeds, const Plan& plan, CachedTokens tokens,
                     Record* record) {
  return time_of(s, speeds, plan, TimedPass(s, speeds, decode_pass(s, tokens)), record);
}
PassTime decode_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Record* record) {
  return decode_step(s, Speeds(s, plan), plan, tokens, record);
}
PassTime check_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Size each,
                    Record* record) {
  return time_of(s, plan, decode_pass(s, tokens, each), record);
}
PassTime prefill(const Scenario& s, const Speeds& speeds, const Plan& plan, Size prompt,
                 Record* record) {
  return prefill(s, speeds, plan, TimedPass(s, speeds, prefill_pass(s, prompt)), record);
}
PassTime prefill(const Scenario& s, const Plan& plan, Size prompt, Record* record) {
  return prefill(s, Speeds(s, plan), plan, prompt, record);
}
PassTime prefill(const Scenario& s, const Speeds& speeds, const Plan& plan,
                 const TimedPass& prompts, Record* record) {
  PassTime time = time_of(s, speeds, plan, prompts, record);
  if (s.images.count == 0) return time;
  Record of_tower;
  const PassTime tower = time_of(s, speeds, plan, TimedPass(s, speeds, tower_pass(s)),
                                 record != nullptr ? &of_tower : nullptr);
  for (const auto part : {&PassTime::cards, &PassTime::launches, &PassTime::stream, &PassTime::disk,
                          &PassTime::cpu, &PassTime::reduce, &PassTime::crossings, &PassTime::eager,
                          &PassTime::total, &PassTime::least})
    time.*part += tower.*part;
  if (record != nullptr) record->insert(record->end(), of_tower.begin(), of_tower.end());
  return time;
}
PassTime step(const Scenario& s, const Plan& plan, Record* record) {
  return time_of(s, plan, step_pass(s), record);
}

}  // namespace headroom::model
