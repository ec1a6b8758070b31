#include "sweep/accuracy/prediction.hpp"

#include <algorithm>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/larger_cards.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/load.hpp"
#include "model/infer/traffic.hpp"
#include "sweep/accuracy/cache_figures.hpp"
#include "sweep/accuracy/constant_search.hpp"
#include "sweep/accuracy/finite_run.hpp"
#include "sweep/accuracy/memory_figures.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Plan;
using model::Scenario;

bool on_cards_alone(const Plan& plan) {
  return plan.feasible() && plan.cards > 0 && plan.on_cpu.size() + plan.on_disk.size() == 0 &&
         plan.head != model::Where::cpu;
}

/// Start-up without the weights.
double start_seconds(const Scenario& s) {
  return s.runtime->weights.load_fixed_s.value + model::graph_start_seconds(s).value();
}

double seconds_of(Statistic statistic, const Scenario& s, const Estimate& e) {
  switch (statistic) {
    case Statistic::step:
      return e.tpot.value();
    case Statistic::prefill:
      return e.ttft.value();
    case Statistic::load:
      return e.load.value();
    case Statistic::load_warm:
      return e.load_warm.value();
    case Statistic::load_weights:
      return e.load.value() - start_seconds(s);
    case Statistic::load_weights_warm:
      return e.load_warm.value() - start_seconds(s);
    default:
      return e.total.value();
  }
}

bool is_served(Statistic statistic) {
  return statistic >= Statistic::serving_step && statistic <= Statistic::serving_rate;
}

/// The scenario with cards of any size, and contexts beyond the model's positions.
struct Lifted : model::LargerCards {
  explicit Lifted(const Scenario& s) : LargerCards(s) {
    engine.cache.rejects_beyond_max_positions = false;
    scenario.gpu_budget = model::unlimited;
    scenario.gpu_share = 0;
  }
};

bool offloads(const ScoredRow& subject) {
  return subject.group.starts_with("offload") || subject.statistic == Statistic::card_weights ||
         subject.statistic == Statistic::loaded || subject.statistic == Statistic::host_weights ||
         subject.scenario.machine->devices.empty();
}

/// False: the row's cards are too small for an estimate by themselves (Lifted).
bool fits_as_it_is(const ScoredRow& subject) {
  return offloads(subject) || on_cards_alone(place(subject.scenario, 1.0));
}

/// With the row's own share of requests that start together, if it states one.
model::Traffic traffic_of(const ScoredRow& subject, Scenario s) {
  if (!subject.together) return model::traffic(s);
  model::Engine engine = *s.runtime;
  engine.serving.queue.value = *subject.together;
  s.runtime = &engine;
  return model::traffic(s);
}

/// Nothing where not even one sequence fits.
std::optional<double> served(const ScoredRow& subject, const Scenario& s) {
  if (subject.requests > 0) {
    const auto all = run_seconds(s, subject.requests);
    const double of_batch = static_cast<double>(s.batch) / static_cast<double>(subject.requests);
    return all ? std::optional(*all * of_batch) : std::nullopt;
  }
  const model::Traffic traffic = traffic_of(subject, s);
  if (traffic.running == 0) return std::nullopt;
  if (subject.statistic == Statistic::serving_step) return traffic.tpot.value();
  if (subject.statistic == Statistic::serving_first) return traffic.ttft.value();
  return static_cast<double>(s.batch * s.output_tokens) / traffic.output_tokens_s;
}

std::optional<double> figure(const ScoredRow& subject, const Scenario& s, std::string& why) {
  if (is_served(subject.statistic)) return served(subject, s);
  const Estimate e = evaluate(s);
  if (e.verdict == model::Verdict::refused || e.verdict == model::Verdict::does_not_fit) {
    why = name_of(e.reason);
    return std::nullopt;
  }
  const double value = is_memory(subject.statistic) ? bytes_of(subject, s, place(s, 1.0))
                                                    : seconds_of(subject.statistic, s, e);
  if (!(value > 0) || value > 1e300) {
    why = "no such figure";
    return std::nullopt;
  }
  return value;
}

}  // namespace

const model::Constant& interval_of(const ScoredRow& subject) {
  const model::Engine& r = *subject.scenario.runtime;
  if (is_memory(subject.statistic)) return r.memory.interval;
  if (subject.group == "serving_ttft") return r.serving.first_token_interval;
  if (subject.group == "serving_throughput") return r.serving.throughput_interval;
  if (subject.group.starts_with("serving")) return r.serving.serving_interval;
  if (subject.group.starts_with("offload"))
    return subject.scenario.machine->ram_assumed || r.offload.mode != model::Offload::compute
               ? r.offload.interval
               : r.offload.ram_stated_interval;
  if (subject.group == "prefill") return r.kernels.prefill_interval;
  return subject.group == "load_time" ? r.weights.load_interval : r.kernels.decode_interval;
}

std::optional<double> predict(const ScoredRow& subject, std::string& why) {
  const Scenario& s = subject.scenario;
  if (is_of_start_log(subject.statistic) && subject.statistic != Statistic::loaded) {
    const auto found = cache_figure(subject, s);
    if (!found) why = "no memory is left for a cache";
    return found;
  }
  const bool as_it_is = is_served(subject.statistic) || fits_as_it_is(subject);
  auto value = as_it_is ? figure(subject, s, why) : std::nullopt;
  if (!value) value = figure(subject, Lifted(s).scenario, why);
  return value;
}

namespace {

/// The uncertain part of the figure, in bytes. Nothing where there is no estimate.
std::optional<double> uncertain_of(const ScoredRow& subject) {
  if (is_left(subject.statistic)) return uncertain_beside_cache(subject);
  const auto in = [&](const Scenario& s) {
    const Plan plan = place(s, 1.0);
    return work_of(subject, s, plan) + model::unlisted_share * bytes_of(subject, s, plan);
  };
  const double bytes =
      fits_as_it_is(subject) ? in(subject.scenario) : in(Lifted(subject.scenario).scenario);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// The interval as factors on the whole figure. A sum over shapes leaves out what no list names.
model::Interval interval_of_memory(const ScoredRow& subject) {
  if (subject.statistic == Statistic::concurrency ||
      subject.statistic == Statistic::cache_tokens) {  // as sure as the memory that is left
    ScoredRow left = subject;
    left.statistic = Statistic::cache_left;
    return interval_of_memory(left);
  }
  if (!has_work(subject.statistic))
    return {1 - model::unlisted_share, 1 + model::unlisted_share, 0};
  std::string why;
  const auto whole = predict(subject, why), part = uncertain_of(subject);
  if (!whole || !part) return {};
  const model::Constant& ends = interval_of(subject);
  const double share = *part / *whole, low = (ends.low - 1) * share, high = (ends.high - 1) * share;
  if (is_left(subject.statistic)) return {std::max(0.0, 1 - high), 1 - low, ends.measurements};
  return {1 + low, 1 + high, ends.measurements};
}

}  // namespace

std::optional<double> uncertain_ratio(const ScoredRow& subject, double expected) {
  const auto part = has_work(subject.statistic) ? uncertain_of(subject) : std::nullopt;
  if (!part) return std::nullopt;
  const double more = subject.measured - expected;
  return 1 + (is_left(subject.statistic) ? -more : more) / *part;
}

model::Interval shown_interval(const ScoredRow& subject) {
  if (is_memory(subject.statistic)) return interval_of_memory(subject);
  if (subject.group.starts_with("offload")) return interval_factors(subject.scenario).offload;
  if (subject.group == "load_time") return model::Interval(interval_of(subject));
  const Lifted lifted(subject.scenario);  // a reported run has fitted
  const Estimate e = evaluate(lifted.scenario);
  const model::IntervalFactors all = interval_factors(*subject.scenario.runtime);
  const model::ServingIntervals served = all.serving(e);
  if (subject.group == "serving_ttft") return served.ttft;
  if (subject.group == "serving_throughput") return served.rate;
  if (subject.group.starts_with("serving")) return served.tpot;
  const model::TimeIntervals alone = all.times(e);
  return subject.group == "prefill" ? alone.ttft : alone.tpot;
}

namespace {

/// `engine` on hardware that reaches its data sheets, without a cost of its own.
model::Engine at_full_rates(const model::Engine& engine) {
  model::Engine ideal = engine;
  ideal.kernels.activations_in_memory = false;
  for (auto& by_width : ideal.kernels.efficiency)
    for (model::KernelEfficiency& rates : by_width) {
      rates.decode_bandwidth.value = rates.prefill_compute.value = rates.byte_compute.value = 1;
      rates.kernel_s.value = rates.expert_reads.value = 0;
      rates.unpack_bandwidth.value = 1e9;
    }
  for (const auto share :
       {"cache_cost", "score_compute", "stream_bandwidth", "cpu_bandwidth", "cpu_compute",
        "disk_bandwidth", "remote_numa_share", "link_bandwidth", "load_disk_share"})
    constant_named(share).in(ideal).value = 1;
  for (const auto overhead :
       {"reduce_latency_s", "reduce_over_bus_s", "reduce_over_network_s", "device_handoff_s",
        "step_s", "sequence_s", "eager_kernel_s", "load_fixed_s", "load_layer_s", "load_tensor_s"})
    constant_named(overhead).in(ideal).value = 0;
  // The disk, the bus and the memory alone.
  ideal.offload.thread_bandwidth.value = 1e15;
  ideal.offload.staging_bandwidth.value = 0;
  ideal.weights.reads_ahead = false;
  ideal.weights.load_read_bandwidth.value = ideal.weights.load_copy_bandwidth.value = 1e15;
  return ideal;
}

/// Bytes that `engine` would use; 0: no estimate.
double with_runtime(ScoredRow subject, const model::Engine& engine) {
  subject.scenario.runtime = &engine;
  std::string why;
  return predict(subject, why).value_or(0);
}

}  // namespace

double plain(const ScoredRow& subject) {
  Scenario s = subject.scenario;
  if (is_of_start_log(subject.statistic) && subject.statistic != Statistic::loaded) {
    // every layer holds every token, and nothing else
    model::Engine whole = *s.runtime;
    whole.cache.windows = model::Windows::whole;
    return with_runtime(subject, whole);
  }
  if (is_memory(subject.statistic)) {
    ScoredRow held = subject;
    if (subject.statistic == Statistic::allocated_peak || subject.statistic == Statistic::card_used)
      held.statistic = Statistic::resident_allocated;
    std::string why;
    return predict(held, why).value_or(0);
  }
  return with_runtime(subject, at_full_rates(*s.runtime));
}

double reading_weights(const ScoredRow& subject) {
  model::Engine ideal = at_full_rates(*subject.scenario.runtime);
  ideal.kernels.cache_cost.value = 0;
  ideal.kernels.expert_cost.value = 1;
  ideal.kernels.repeats_kv = ideal.kernels.whole_tiles = false;
  return with_runtime(subject, ideal);
}

bool runs(const Scenario& s, double memory_factor, bool may_offload) {
  const Plan plan = place(s, memory_factor);
  return may_offload ? plan.feasible() : on_cards_alone(plan);
}

double load_of(const Scenario& s) {
  double budget = 0;
  for (std::size_t card = 0; card < s.machine->devices.size(); ++card)
    budget += real_count(card_budget(s, card));
  const Lifted lifted(s);
  const Plan plan = place(lifted.scenario, 1.0);
  double need = 0;
  for (Size card = 0; card < plan.cards; ++card)
    need += real_count(card_use(lifted.scenario, plan, card).total());
  return budget > 0 ? need / budget : 0;
}

}  // namespace headroom::sweep
