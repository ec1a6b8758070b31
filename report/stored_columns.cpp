// How an Estimate goes into a row of the table `outcome` and comes back. What follows from another
// column is not stored; small numbers share an integer, since each column costs the writer time.
#include <stdexcept>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"

namespace headroom::report {
namespace {

using model::Estimate;

// status: verdict in bits 0-2, sure 3-4, reason 5-9, gpus_used 10-25, training bit 26, unmeasured
// bits 27 (first token) and 28 (step), the least shares of both in bits 29-35 and 36-42, waiting
// from bit 43.
constexpr Size most_waiting = 1 << 20;
std::int64_t pack_status(const Estimate& e) {
  if (e.queued >= most_waiting)
    throw std::out_of_range("more than 1048575 waiting sequences cannot be stored");
  return static_cast<std::int64_t>(e.verdict) | static_cast<std::int64_t>(e.sure) << 3 |
         static_cast<std::int64_t>(e.reason) << 5 | static_cast<std::int64_t>(e.gpus_used) << 10 |
         static_cast<std::int64_t>(e.task == model::Task::training) << 26 |
         static_cast<std::int64_t>(e.first_unmeasured) << 27 |
         static_cast<std::int64_t>(e.step_unmeasured) << 28 |
         static_cast<std::int64_t>(e.first_least) << 29 |
         static_cast<std::int64_t>(e.step_least) << 36 | e.queued << 43;
}
void unpack_status(Estimate& e, std::int64_t v) {
  e.verdict = static_cast<model::Verdict>(v & 7);
  e.sure = static_cast<model::Confidence>(v >> 3 & 3);
  e.reason = static_cast<model::Reason>(v >> 5 & 31);
  e.gpus_used = static_cast<std::uint16_t>(v >> 10);
  e.task = (v >> 26 & 1) != 0 ? model::Task::training : model::Task::inference;
  e.first_unmeasured = (v >> 27 & 1) != 0;
  e.step_unmeasured = (v >> 28 & 1) != 0;
  e.first_least = v >> 29 & 127;
  e.step_least = v >> 36 & 127;
  e.queued = v >> 43;
}

// layers: on GPU in bits 0-19, on CPU 20-39, on disk from bit 40.
constexpr Size most_layers = 1 << 20;
std::int64_t pack_layers(const Estimate& e) {
  if (e.layers_gpu >= most_layers || e.layers_cpu >= most_layers || e.layers_disk >= most_layers)
    throw std::out_of_range("a model of more than 1048575 layers cannot be stored");
  return e.layers_gpu | e.layers_cpu << 20 | e.layers_disk << 40;
}
void unpack_layers(Estimate& e, std::int64_t v) {
  e.layers_gpu = v & (most_layers - 1);
  e.layers_cpu = v >> 20 & (most_layers - 1);
  e.layers_disk = v >> 40;
}

template <Bytes Estimate::*field>
constexpr StoredColumn count(std::string_view name) {
  return {name,
          SqlType::integer,
          [](const Estimate& e) { return (e.*field).count(); },
          nullptr,
          [](Estimate& e, std::int64_t v) { e.*field = Bytes(v); },
          nullptr};
}
template <Seconds Estimate::*field>
constexpr StoredColumn time(std::string_view name) {
  return {name,    SqlType::real,
          nullptr, [](const Estimate& e) { return (e.*field).value(); },
          nullptr, [](Estimate& e, double v) { e.*field = Seconds(v); }};
}

constexpr StoredColumn all[] = {
    {"status", SqlType::integer, pack_status, nullptr, unpack_status, nullptr},
    {"layers", SqlType::integer, pack_layers, nullptr, unpack_layers, nullptr},
    count<&Estimate::weights>("weights_bytes"),
    count<&Estimate::kv_cache>("kv_cache_bytes"),
    count<&Estimate::activations>("activations_bytes"),
    count<&Estimate::overhead>("overhead_bytes"),
    count<&Estimate::gpu_bytes>("gpu_bytes"),
    count<&Estimate::max_memory>("max_memory_bytes"),
    count<&Estimate::cpu_bytes>("cpu_bytes"),
    count<&Estimate::disk_bytes>("disk_bytes"),
    count<&Estimate::short_bytes>("short_bytes"),
    time<&Estimate::load>("load_s"),
    time<&Estimate::ttft>("ttft_s"),
    time<&Estimate::tpot>("tpot_s"),
    {"tokens_s", SqlType::real, nullptr, [](const Estimate& e) { return e.tokens_s; }, nullptr,
     [](Estimate& e, double v) { e.tokens_s = v; }},
    time<&Estimate::total>("total_s"),
    time<&Estimate::load_warm>("load_warm_s"),
    time<&Estimate::warming>("warming_s"),
};

template <Bytes model::StepOutcome::*field>
constexpr StoredColumn step_count(std::string_view name) {
  return {name,
          SqlType::integer,
          [](const Estimate& e) { return (e.step.*field).count(); },
          nullptr,
          [](Estimate& e, std::int64_t v) { e.step.*field = Bytes(v); },
          nullptr};
}

// moment: of the peak in bits 0-2, whether gradients are alive then in bit 3.
constexpr StoredColumn of_training[] = {
    step_count<&model::StepOutcome::master>("master_weights_bytes"),
    step_count<&model::StepOutcome::gradients>("gradients_bytes"),
    step_count<&model::StepOutcome::states>("optimizer_bytes"),
    step_count<&model::StepOutcome::loss>("loss_bytes"),
    step_count<&model::StepOutcome::working>("working_bytes"),
    step_count<&model::StepOutcome::exchanged>("exchanged_bytes"),
    step_count<&model::StepOutcome::stepping>("stepping_bytes"),
    {"moment", SqlType::integer,
     [](const Estimate& e) {
       return std::int64_t{e.step.moment} | std::int64_t{e.step.gradients_alive} << 3;
     },
     nullptr,
     [](Estimate& e, std::int64_t v) {
       e.step.moment = static_cast<std::uint8_t>(v & 7);
       e.step.gradients_alive = (v >> 3 & 1) != 0;
     },
     nullptr},
    {"step_s", SqlType::real, nullptr, [](const Estimate& e) { return e.step.time.value(); },
     nullptr, [](Estimate& e, double v) { e.step.time = Seconds(v); }},
    {"mfu", SqlType::real, nullptr, [](const Estimate& e) { return e.step.utilization; }, nullptr,
     [](Estimate& e, double v) { e.step.utilization = v; }},
};

template <Seconds model::Served::*field>
constexpr StoredColumn served_time(std::string_view name) {
  return {name,    SqlType::real,
          nullptr, [](const Estimate& e) { return (e.served.*field).value(); },
          nullptr, [](Estimate& e, double v) { e.served.*field = Seconds(v); }};
}
template <double model::Served::*field>
constexpr StoredColumn served_rate(std::string_view name) {
  return {name,    SqlType::real,
          nullptr, [](const Estimate& e) { return e.served.*field; },
          nullptr, [](Estimate& e, double v) { e.served.*field = v; }};
}

constexpr StoredColumn of_serving[] = {
    {"running", SqlType::integer, [](const Estimate& e) { return e.served.running; }, nullptr,
     [](Estimate& e, std::int64_t v) { e.served.running = v; }, nullptr},
    served_time<&model::Served::ttft>("ttft_s"),
    served_time<&model::Served::tpot>("tpot_s"),
    served_time<&model::Served::total>("total_s"),
    served_time<&model::Served::ttft_p95>("ttft_p95_s"),
    served_time<&model::Served::total_p95>("total_p95_s"),
    served_rate<&model::Served::requests_s>("requests_s"),
    served_rate<&model::Served::output_tokens_s>("output_tokens_s"),
};

constexpr SideTable beside[] = {
    {"training_outcome", of_training,
     [](const Estimate& e) { return e.task == model::Task::training; }},
    {"serving_outcome", of_serving, [](const Estimate& e) { return e.served.running > 0; }},
};

}  // namespace

std::span<const StoredColumn> stored_columns() { return all; }
std::span<const SideTable> side_tables() { return beside; }

}  // namespace headroom::report
