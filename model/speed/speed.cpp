#include "model/speed/speed.hpp"

#include <algorithm>
#include <cmath>

#include "model/speed/stretches.hpp"

namespace headroom::model {
namespace {

PassTime time_of(const Scenario& s, const Plan& plan, const Pass& pass, Record* record = nullptr) {
  PassTime time;
  if (s.runtime->split == Split::tensors)
    add_tensor_split(s, plan, pass, time, record);
  else
    add_layer_split(s, plan, pass, time, record);
  if (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card ||
      (plan.embedding != Where::card && plan.stage_buffer > Bytes(0)))
    add_offloaded(s, plan, pass, time, record);
  if (s.layer_split != nullptr) add_left_on_host(s, plan, pass, time, record);
  time.launches = launches(s, pass);
  // Kernels on a card run behind their launches; those on the CPU are what launches wait for.
  const bool overlapped = s.runtime->launch == Launch::overlapped;
  const double hidden = overlapped ? std::min(time.cards, time.launches) : 0;
  time.total =
      time.stream + time.disk + time.reduce + time.cpu + time.cards + time.launches - hidden;
  const bool eager =
      pass.prompt == 0 && s.runtime->graph_tokens > 0 && pass.cached.self > s.runtime->graph_tokens;
  const double before = time.total;
  if (eager) time.total = std::max(time.total, runs(s, pass) * s.runtime->eager_layer_s.value);
  if (record == nullptr) return time;
  record->push_back({.over = Over::launches, .seconds = time.launches - hidden, .hidden = hidden});
  if (time.total > before)
    record->push_back({.over = Over::eager, .seconds = time.total - before, .hidden = before});
  return time;
}

}  // namespace

double experts_touched(const Profile& profile, double tokens) {
  const Routing r = profile.routing;
  if (r.experts <= 0 || r.used >= r.experts) return 1.0;
  const double share = static_cast<double>(r.used) / static_cast<double>(r.experts);
  if (tokens <= 1.0) return share;
  return 1.0 - std::pow(1.0 - share, tokens);
}

CachedTokens mean_tokens(const Scenario& s) {
  const Size half = (s.output_tokens + 1) / 2;
  if (s.weights->model->encoder_decoder) return {.self = half, .source = s.prompt_tokens};
  return {.self = s.prompt_tokens + half, .source = 0};
}

PassTime decode_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Record* record) {
  return time_of(s, plan, decode_pass(s, tokens), record);
}
PassTime check_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Size each,
                    Record* record) {
  Pass pass = decode_pass(s, tokens);
  pass.tokens *= static_cast<double>(each);
  pass.logit_rows *= static_cast<double>(each);
  return time_of(s, plan, pass, record);
}
PassTime prefill(const Scenario& s, const Plan& plan, Size prompt, Record* record) {
  PassTime time = time_of(s, plan, prefill_pass(s, prompt), record);
  if (s.images.count == 0) return time;
  Record of_tower;
  const PassTime tower = time_of(s, plan, tower_pass(s), record != nullptr ? &of_tower : nullptr);
  for (const auto part : {&PassTime::cards, &PassTime::launches, &PassTime::stream, &PassTime::disk,
                          &PassTime::cpu, &PassTime::reduce, &PassTime::total})
    time.*part += tower.*part;
  if (record != nullptr) record->insert(record->end(), of_tower.begin(), of_tower.end());
  return time;
}
PassTime step(const Scenario& s, const Plan& plan, Record* record) {
  return time_of(s, plan, step_pass(s), record);
}

}  // namespace headroom::model
