#include "model/answer/breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/answer/layer_groups.hpp"
#include "model/answer/segment_rates.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

/// The parts of one pass.
class Parts {
 public:
  /// `times`: how often the pass counts. `prefix`: what the pass is, if it is not the model's own.
  Parts(const Scenario& s, std::string prefix, double times, PassBreakdown& out)
      : s_(s), prefix_(std::move(prefix)), times_(times), out_(out) {}

  void add(const Timeline& time) {
    for (const Segment& segment : time.segments) {
      const std::span items(time.items.data() + segment.first_item,
                            segment.last_item - segment.first_item);
      if (segment.resource == Resource::cards || segment.resource == Resource::cpu)
        add_device(segment, groups_of(items));
      else if (segment.resource == Resource::bus || segment.resource == Resource::disk)
        add_copies(segment, groups_of(items));
      else
        add_wait(segment);
    }
    for (Span& span : spans_of(s_, time)) {
      span.name = prefix_ + span.name;
      span.amount *= times_;
      span.seconds *= times_;
      span.hidden *= times_;
      out_.spans.push_back(std::move(span));
    }
  }

 private:
  /// Layers share the device's time by what it waits for.
  void add_device(const Segment& segment, const std::vector<LayerGroup>& groups) {
    const Throughput& rate = segment.rate;
    Work all;
    for (const LayerGroup& group : groups)
      all = all + static_cast<double>(group.layers.size()) * weighed(segment, group.one.work);
    const Roofline roof = roofline(all, rate);
    const bool memory_bound = roof.is_memory_bound();
    const bool multiplies = 2 * (all.flops / rate.flops_s) >= roof.compute();
    const std::string at = rates_of(s_, segment, all);
    for (const LayerGroup& group : groups) {
      const Roofline own = roofline(weighed(segment, group.one.work), rate);
      const double n = times_ * static_cast<double>(group.layers.size());
      PassPart part = part_of(group, segment);
      part.memory_s = n * (own.read_weights + own.between_products()).value();
      part.compute_s = n * own.compute().value();
      const Seconds waited =
          (memory_bound ? own.read_weights : own.compute()) + own.between_products();
      if (roof.total() > Seconds())
        part.seconds = n * (segment.seconds * (waited / roof.total())).value();
      part.bound = memory_bound || !multiplies ? Bound::memory : Bound::compute;
      part.rates = at;
      out_.parts.push_back(std::move(part));
    }
  }
  /// The extra cost of experts is a card's.
  static Work weighed(const Segment& segment, Work work) {
    if (segment.resource == Resource::cpu)
      work.expert_bytes = work.prefill_expert_bytes = RealBytes();
    return work;
  }

  PassPart part_of(const LayerGroup& group, const Segment& segment) const {
    const Work& work = group.one.work;
    const double n = times_ * static_cast<double>(group.layers.size());
    PassPart part;
    part.what = prefix_ + group_words(s_.weights->model->profile, group);
    part.where = place_of(segment);
    if (segment.resource == Resource::bus || segment.resource == Resource::disk) {
      part.moved_bytes = n * group.one.moved.value();
      return part;
    }
    part.weight_bytes = n * work.weight_bytes.value();
    part.expert_bytes = n * work.expert_bytes.value();
    part.cache_bytes = n * (work.cache_bytes - group.one.state).value();
    part.state_bytes = n * group.one.state.value();
    part.kv_repeat_bytes = n * work.kv_repeat_bytes.value();
    part.flops = n * work.flops.value();
    return part;
  }

  void add_copies(const Segment& segment, const std::vector<LayerGroup>& groups) {
    if (groups.empty()) {
      PassPart part;
      part.what = prefix_ + "weights held back";
      part.where = place_of(segment);
      part.moved_bytes = times_ * segment.moved.value();
      return add_link(std::move(part), segment, segment.seconds);
    }
    for (const LayerGroup& group : groups)
      if (group.one.moved > RealBytes()) {
        const RealBytes moved = static_cast<double>(group.layers.size()) * group.one.moved;
        add_link(part_of(group, segment), segment, segment.seconds * (moved / segment.moved));
      }
  }

  void add_link(PassPart part, const Segment& segment, Seconds seconds) {
    part.link_s = part.seconds = times_ * seconds.value();
    part.bound = Bound::link;
    part.rates = rates_of(s_, segment, {});
    out_.parts.push_back(std::move(part));
  }

  void add_wait(const Segment& segment) {
    PassPart part;
    part.what = prefix_ + span_of_wait(s_, segment).name;
    part.where = place_of(segment);
    if (segment.resource == Resource::link) {
      part.moved_bytes = times_ * segment.moved.value();
      return add_link(std::move(part), segment, segment.seconds);
    }
    part.seconds = times_ * segment.seconds.value();
    part.overhead_s = times_ * (segment.seconds + segment.hidden).value();
    part.bound = Bound::overhead;
    part.rates = rates_of(s_, segment, {});
    if (part.overhead_s > 0) out_.parts.push_back(std::move(part));
  }

  const Scenario& s_;
  std::string prefix_;
  double times_;
  PassBreakdown& out_;
};

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view names[] = {"memory", "compute", "link", "overhead"};
  return names[static_cast<std::size_t>(bound)];
}

double PassBreakdown::of(Bound bound) const {
  double sum = 0;
  for (const PassPart& part : parts)
    if (part.bound == bound) sum += part.seconds;
  return sum;
}

namespace {

/// One step with a draft model gives several tokens, which share its time.
void add_drafted_token(const Scenario& s, const Scenario& small, const DraftTimes& times,
                       PassBreakdown& tpot) {
  const double tokens = tokens_per_step(*s.draft);
  tpot.seconds = (times.step / tokens).value();
  if (s.draft->weights != nullptr)
    Parts(small, "draft: ", static_cast<double>(draft_passes(*s.draft)) / tokens, tpot)
        .add(times.propose);
  Parts(s, "check: ", 1 / tokens, tpot).add(times.check);
  const double further = (times.further / tokens).value();
  PassPart part;
  part.what = "check: further tokens";
  part.where = "host";
  part.seconds = part.overhead_s = further;
  part.bound = Bound::overhead;
  tpot.parts.push_back(std::move(part));
  tpot.spans.push_back(
      {.name = "check: further tokens",
       .where = "host",
       .resource = Resource::launches,
       .amount = static_cast<double>(s.draft->tokens) / tokens,
       .unit = "times",
       .rate = further > 0 ? static_cast<double>(s.draft->tokens) / tokens / further : 0,
       .seconds = Seconds(further),
       .hidden = Seconds(),
       .formula = "k * share * decode step",
       .constant = &check_cost()});
}

PassBreakdown of_pass(const Scenario& s, std::string name, const Timeline& time) {
  PassBreakdown pass{.name = std::move(name), .seconds = time.total.value()};
  Parts(s, "", 1, pass).add(time);
  return pass;
}

}  // namespace

std::vector<PassBreakdown> breakdown(const Scenario& asked) {
  if (evaluate(asked).verdict >= Verdict::does_not_fit) return {};
  const Scenario s = admitted_scenario(asked);
  const Plan plan = place(s, 1.0);
  std::vector<PassBreakdown> all{
      of_pass(s, "ttft", prefill(s, plan, s.prompt_tokens, TimelineDetail::layers))};
  if (!s.weights->model->writes()) return all;
  if (s.draft == nullptr) {
    all.push_back(of_pass(s, "tpot", step(s, plan, TimelineDetail::layers)));
    return all;
  }
  const DraftTimes times = draft_times(s, plan, TimelineDetail::layers);
  Scenario small = s;
  if (s.draft->weights != nullptr) {
    small.weights = s.draft->weights;
    all[0].seconds += times.prompt.total.value();
    Parts(small, "draft: ", 1, all[0]).add(times.prompt);
  }
  all.push_back({.name = "tpot"});
  add_drafted_token(s, small, times, all[1]);
  return all;
}

}  // namespace headroom::model
