#include "model/infer/estimate.hpp"

#include <algorithm>
#include <limits>

#include "model/checkpoint/position_table.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/confidence.hpp"
#include "model/infer/evaluator.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/service.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "model/infer/timeline/load.hpp"

namespace headroom::model {
namespace {

constexpr Seconds never{std::numeric_limits<double>::infinity()};

/// Checks that do not depend on batch, context or memory.
Reason unsupported_combination(const Scenario& s) {
  if (!runs_on(*s.runtime, *s.machine)) return Reason::cards_unsupported;
  if (!serves_class(*s.runtime, *s.weights->model)) return Reason::model_unsupported;
  if (!s.weights->refusal.empty()) return Reason::precision_unsupported;
  if (!s.runtime->weights.holds(s.weights->scheme->family)) return Reason::precision_unsupported;
  if (loading_of(*s.weights->model, *s.weights->scheme, *s.runtime, *s.machine) == Loading::refused)
    return Reason::precision_unsupported;
  const Model& model = *s.weights->model;
  if (s.kv_cache && !holds_cache(*s.runtime, model, cache_precision(s), *s.machine))
    return Reason::cache_unsupported;
  if (!s.kv_cache && !s.runtime->cache.optional) return Reason::cache_required;
  if (s.runtime->parallel.split == Split::layers &&
      std::max({s.tensor_parallel, s.pipeline_parallel, s.expert_parallel, s.data_parallel}) > 1)
    return Reason::parallelism_unsupported;
  // check_draft() has the words (sweep/options/speculation.hpp).
  if (s.draft != nullptr && (s.pipeline_parallel > 1 || s.data_parallel > 1))
    return Reason::parallelism_unsupported;
  if (s.runtime->parallel.split == Split::tensors && s.assignment != nullptr)
    return Reason::parallelism_unsupported;
  return Reason::none;
}

/// True if the results of a plan depend on budgets. Shares of rows do, and so does a draft model
/// placed separately.
bool needs_budgets(const Scenario& s) { return s.draft != nullptr || shares_rows(s); }

/// Layers by place, without towers of images and audio.
void count_layers(const Plan& plan, const Model& model, Estimate& e) {
  const Range counted = counted_layers(model);
  if (plan.assignment == nullptr) {
    e.layers_gpu = intersect(plan.on_cards, counted).size() + intersect(plan.tower, counted).size();
    e.layers_cpu = intersect(plan.on_cpu, counted).size();
    e.layers_disk = intersect(plan.on_disk, counted).size();
    return;
  }
  e.layers_gpu = e.layers_cpu = e.layers_disk = 0;
  for (Size i = counted.first; i < counted.last; ++i) {
    const Spot spot = plan.assignment->layer[static_cast<std::size_t>(i)];
    ++(spot == on_cpu ? e.layers_cpu : spot == on_disk ? e.layers_disk : e.layers_gpu);
  }
}

std::uint8_t min_share(const PassSeconds& time) {
  return static_cast<std::uint8_t>(std::min(1.0, time.least / time.total) * max_low_share);
}

}  // namespace

const LoadTime& Evaluator::loading(const Uses& uses, const Plan& plan) {
  const bool known = loading_ && loading_->ram_budget == s_.ram_budget && loading_->plan == plan;
  if (!known || needs_budgets(s_)) loading_.emplace(plan, s_.ram_budget, load_time(uses, plan));
  return loading_->time;
}

PassSeconds Evaluator::seconds_of_step(const Plan& plan) {
  // Concurrent requests ask for this step again.
  if (s_.concurrency > 0) {
    block_->speeds.know_passes(s_, plan);
    return PassTimes(s_, block_->speeds, plan).step();
  }
  if (!step_) step_.emplace(s_, block_->speeds, step_pass(s_));
  const Timeline step = time_of(s_, block_->speeds, plan, *step_, TimelineDetail::totals);
  return {step.total, step.least};
}

void Evaluator::add_times(const Uses& uses, const Plan& plan, Estimate& e) {
  block_->speeds.know(s_, plan);
  const Speeds& reached = block_->speeds;
  if (!prompts_)
    prompts_.emplace(s_, reached, prefill_pass(s_, s_.prompt_tokens, reached.chunk.of(s_)));
  const Timeline first = prefill(s_, reached, plan, *prompts_, TimelineDetail::totals);
  const LoadTime& load = loading(uses, plan);
  e.load = load.cold();
  e.load_warm = load.warm();
  e.warming = load.mapped;
  e.ttft = first.total;
  e.first_least = min_share({first.total, first.least});
  if (e.verdict <= Verdict::fits_gpus)
    for (Size card = plan.first_used_card; card < plan.cards; ++card) {
      e.first_unmeasured = e.first_unmeasured || !reached.card(card).products_measured;
      e.step_unmeasured = e.step_unmeasured || !reached.card(card).reads_measured;
    }
  if (const Size meeting = plan.shards * plan.sharing();
      meeting > 1 && reached.link(meeting).start->measurements == 0)
    e.first_unmeasured = e.step_unmeasured = true;
  if (!s_.weights->model->writes()) {
    e.total = e.ttft;
    return;
  }
  const PassSeconds step = seconds_of_step(plan);
  e.tpot = step.total;
  e.step_least = min_share(step);
  if (s_.draft != nullptr) {
    e.first_least = e.step_least = 0;  // steps of two models, in a number that is itself expected
    const DraftTimes times = draft_times(s_, plan);
    e.ttft += times.prompt.total;
    e.tpot = times.step / tokens_per_step(*s_.draft);
  }
  e.tokens_s = static_cast<double>(s_.batch * plan.replicas) / e.tpot.value();
  e.total = e.ttft + static_cast<double>(std::max<Size>(0, s_.output_tokens - 1)) * e.tpot;
}

void Evaluator::Outcome::add_memory(const Uses& uses) {
  const Scenario& s = uses.scenario();
  Estimate& e = estimate;
  for (Size card = plan.first_used_card, alike = 1; card < plan.cards; card += alike) {
    alike = uses.cards_alike(plan, card);
    const CardUse& use = uses.card(plan, card);
    e.kv_cache += alike * use.kv_cache;
    e.activations += alike * use.activations;
    e.overhead += alike * (use.context + use.fragmentation);
    if (use.total() > e.gpu_bytes) {
      e.gpu_bytes = use.total();
      e.gpu_uncertain = use.uncertain();
    }
    if (card == plan.first_used_card) overhead = use.total() - use.weights;
  }
  const Constant& memory = s.runtime->memory.interval;
  e.gpu_bytes_low = bytes_at(e.gpu_bytes, e.gpu_uncertain, memory.low);
  e.gpu_bytes_high = bytes_at(e.gpu_bytes, e.gpu_uncertain, memory.high);
  const HostUse host = uses.host(plan);
  e.weights = s.weights->total + (draft_bytes(s));
  e.kv_cache += host.kv_cache;
  e.activations += host.activations;
  e.overhead += host.process;
  e.cpu_bytes = host.total();
  e.disk_bytes = disk_use(s, plan);
  e.gpus_used = static_cast<std::uint16_t>(cards_used(plan));
  count_layers(plan, *s.weights->model, e);
}

const Evaluator::Outcome& Evaluator::outcome(const Plan& plan) {
  const bool usable = !s_.machine->devices.empty() && block_->setup.budget(s_, 0) > Bytes(0);
  if (last_ && last_->card_usable == usable && last_->ram_budget == s_.ram_budget &&
      last_->plan == plan && !needs_budgets(s_))
    return *last_;
  Outcome& made = last_.emplace(plan, usable, s_.ram_budget);
  Estimate& e = made.estimate;
  e.load = e.load_warm = e.ttft = e.tpot = e.total = never;
  e.verdict = verdict_of(plan);
  e.reason = plan.reason;
  e.short_bytes = plan.short_bytes;
  const Uses& uses = *uses_;
  made.add_memory(uses);
  if (!fits(e.verdict)) return made;
  if (!s_.weights->model->writes()) e.reason = Reason::not_generative;
  add_times(uses, plan, e);
  return made;
}

Estimate Evaluator::in_place_of(const Scenario& changed) {
  // Numbers of sequences change nothing in the block.
  if (!running_ || running_->block_ != block_) running_.reset(new Evaluator(block_));
  return (*running_)(changed);
}

Estimate Evaluator::with_waiting(Scenario running) {
  running.concurrency = 0;
  Estimate e = in_place_of(running);
  e.queued = s_.batch - running.batch;
  running.batch = 1;
  e.sure = confidence_of(Uses(running, block_->setup), e.verdict, e.gpus_used, HighEnd::unknown);
  if (s_.concurrency > 0) e.served = served(s_, e, *block_);
  return e;
}

Estimate Evaluator::refused(Reason reason, Bytes short_bytes) const {
  Estimate e;
  e.reason = reason;
  e.short_bytes = short_bytes;
  e.weights = s_.weights->total;
  e.load = e.load_warm = e.ttft = e.tpot = e.total = never;
  return e;
}

namespace {

/// Scenarios of a block differ in these and in budgets alone.
void take_sizes(Scenario& to, const Scenario& from) {
  for (const auto size :
       {&Scenario::batch, &Scenario::prompt_tokens, &Scenario::output_tokens, &Scenario::context,
        &Scenario::least_context, &Scenario::concurrency, &Scenario::prompt_tokens_p95,
        &Scenario::output_tokens_p95, &Scenario::max_ttft_p95, &Scenario::max_tpot_p95,
        &Scenario::max_total_p99, &Scenario::burstiness, &Scenario::load_factor})
    to.*size = from.*size;
}

}  // namespace

/// Contexts that are impossible with any memory.
Reason Evaluator::refused_context() {
  if (s_.within_positions()) return Reason::none;
  if (!rejects_beyond_positions_)
    rejects_beyond_positions_ =
        s_.runtime->cache.rejects_beyond_max_positions || has_position_table(*s_.weights->model);
  return *rejects_beyond_positions_ ? Reason::context_too_long : Reason::none;
}

void Evaluator::prepare(const Scenario& s) {
  last_.reset();
  uses_.reset();
  take_sizes(s_, s);
  if (!(s_ == s)) {
    s_ = s;
    if (!of_block_) {
      block_.reset();
      loading_.reset();
      lasting_refusal_ = unsupported_combination(s);
      rejects_beyond_positions_.reset();
    }
  }
  prompts_.reset();
  step_.reset();
  refusal_ = lasting_refusal_ != Reason::none ? lasting_refusal_ : refused_context();
  if (refusal_ != Reason::none) return;
  if (!block_) block_ = std::make_shared<Block>(s_);
  uses_.emplace(s_, block_->setup);
}

Estimate Evaluator::operator()(const Scenario& s) {
  s_.gpu_budget = s.gpu_budget;
  s_.ram_budget = s.ram_budget;
  s_.disk_budget = s.disk_budget;
  if (!(s_ == s)) prepare(s);
  if (refusal_ != Reason::none) return refused(refusal_);
  const bool open = !of_block_ && leaves_sequences_open(s_);
  const bool has_room = open && usual_number_surely_fits(*uses_);
  const Plan plan = has_room && s_.runtime->memory.interval.high >= 1 ? place_division(*uses_)
                                                                      : place(*uses_, 1.0);
  const bool surely = has_room && plan.feasible();
  if (open && !surely)
    if (const auto asked = with_fewer_sequences(*uses_, plan)) return in_place_of(*asked);
  if (const auto fewer = max_admitted(*uses_, plan, 1.0)) {
    if (open)
      if (const auto asked = admitting_more(*uses_, fewer->batch)) return in_place_of(*asked);
    return with_waiting(*fewer);
  }
  if (open && !plan.feasible())
    if (const auto asked = fewer_where_short(*uses_, plan)) return in_place_of(*asked);
  if (verdict_of(plan) == Verdict::refused) return refused(plan.reason, plan.short_bytes);
  return of_plan(plan, surely ? HighEnd::has_room : HighEnd::unknown);
}

Estimate Evaluator::of_plan(const Plan& plan, HighEnd high) {
  const Outcome& made = outcome(plan);
  Estimate e = made.estimate;
  e.sure = confidence_of(*uses_, e.verdict, cards_used(plan), high, &plan);
  if (plan.cards > plan.first_used_card) {
    const Bytes budget = block_->setup.budget(s_, plan.first_used_card);
    e.max_memory = std::max(Bytes(0), budget - made.overhead);
  }
  if (fits(e.verdict) && s_.concurrency > 0) e.served = served(s_, e, *block_, &plan);
  return e;
}

Estimate evaluate(const Scenario& scenario) { return Evaluator()(scenario); }

}  // namespace headroom::model
