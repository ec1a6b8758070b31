// How an Estimate goes into a row of the table `outcome` and comes back. Nothing is stored that
// follows from another column.
#include <iterator>
#include <type_traits>
#include <utility>

#include "model/infer/estimate.hpp"
#include "report/columns.hpp"
#include "report/packed_field.hpp"

namespace headroom::report {
namespace {

using model::Estimate;

/// A packed field, and the member of an Estimate that goes into it.
struct PackedMember {
  PackedField field;
  std::int64_t (*get)(const Estimate&);
  void (*set)(Estimate&, std::int64_t);
};
template <auto member>
constexpr PackedMember in_estimate(const PackedField& field) {
  using Value = std::remove_cvref_t<decltype(std::declval<Estimate>().*member)>;
  return {field, [](const Estimate& e) { return static_cast<std::int64_t>(e.*member); },
          [](Estimate& e, std::int64_t v) { e.*member = static_cast<Value>(v); }};
}
template <auto member>
constexpr PackedMember in_step(const PackedField& field) {
  using Value = std::remove_cvref_t<decltype(std::declval<model::StepOutcome>().*member)>;
  return {field, [](const Estimate& e) { return static_cast<std::int64_t>(e.step.*member); },
          [](Estimate& e, std::int64_t v) { e.step.*member = static_cast<Value>(v); }};
}

constexpr PackedMember status_members[] = {
    in_estimate<&Estimate::verdict>(packed::verdict),
    in_estimate<&Estimate::sure>(packed::sure),
    in_estimate<&Estimate::reason>(packed::reason),
    in_estimate<&Estimate::gpus_used>(packed::gpus_used),
    in_estimate<&Estimate::task>(packed::training),
    in_estimate<&Estimate::first_unmeasured>(packed::first_unmeasured),
    in_estimate<&Estimate::step_unmeasured>(packed::step_unmeasured),
    in_estimate<&Estimate::first_least>(packed::first_least),
    in_estimate<&Estimate::step_least>(packed::step_least),
};
constexpr PackedMember layers_members[] = {
    in_estimate<&Estimate::layers_gpu>(packed::layers_gpu),
    in_estimate<&Estimate::layers_cpu>(packed::layers_cpu),
    in_estimate<&Estimate::layers_disk>(packed::layers_disk)};
constexpr PackedMember moment_members[] = {
    in_step<&model::StepOutcome::moment>(packed::moment),
    in_step<&model::StepOutcome::gradients_alive>(packed::gradients_alive)};
static_assert(std::size(status_members) + std::size(layers_members) + std::size(moment_members) ==
              packed::all.size());

template <const auto& members>
constexpr StoredColumn packed_column() {
  return {members[0].field.column,
          SqlType::integer,
          [](const Estimate& e) {
            std::int64_t value = 0;
            for (const PackedMember& each : members) value |= each.field.packed(each.get(e));
            return value;
          },
          nullptr,
          [](Estimate& e, std::int64_t value) {
            for (const PackedMember& each : members) each.set(e, each.field.read(value));
          },
          nullptr};
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

constexpr StoredColumn all_columns[] = {
    packed_column<status_members>(),
    packed_column<layers_members>(),
    {"waiting", SqlType::integer, [](const Estimate& e) { return e.queued; }, nullptr,
     [](Estimate& e, std::int64_t v) { e.queued = v; }, nullptr},
    count<&Estimate::weights>("weights_bytes"),
    count<&Estimate::kv_cache>("kv_cache_bytes"),
    count<&Estimate::activations>("activations_bytes"),
    count<&Estimate::overhead>("overhead_bytes"),
    count<&Estimate::gpu_bytes>("gpu_bytes"),
    count<&Estimate::gpu_uncertain>("gpu_uncertain_bytes"),
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

constexpr StoredColumn of_training[] = {
    step_count<&model::StepOutcome::master>("master_weights_bytes"),
    step_count<&model::StepOutcome::gradients>("gradients_bytes"),
    step_count<&model::StepOutcome::states>("optimizer_bytes"),
    step_count<&model::StepOutcome::loss>("loss_bytes"),
    step_count<&model::StepOutcome::working>("working_bytes"),
    step_count<&model::StepOutcome::exchanged>("exchanged_bytes"),
    step_count<&model::StepOutcome::stepping>("stepping_bytes"),
    packed_column<moment_members>(),
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
    served_rate<&model::Served::sustained_s>("sustained_s"),
};

constexpr SideTable beside[] = {
    {"training_outcome", of_training,
     [](const Estimate& e) { return e.task == model::Task::training; }},
    {"serving_outcome", of_serving, [](const Estimate& e) { return e.served.running > 0; }},
};

}  // namespace

std::span<const StoredColumn> stored_columns() { return all_columns; }
std::span<const SideTable> side_tables() { return beside; }

}  // namespace headroom::report
