#include "sweep/accuracy/row_requirements.hpp"

#include <fmt/format.h>

#include <limits>

#include "hardware/quantity_text.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::sweep {
namespace {

using model::Scenario;
using enum Statistic;

void require_host_speeds(const Scenario& s, Statistic statistic) {
  const model::Plan plan = place(s, 1.0);
  if (!plan.feasible()) return;
  const auto& host = s.machine->host;
  if (reads_disk(plan) && host.disk_read.value() <= 0)
    throw Skipped(Skip::setting, "the disk's speed");
  const bool on_cpu = plan.on_cpu.size() > 0 || plan.head == model::Where::cpu ||
                      plan.partly_on_host || !caches_on_cards(s);
  if (on_cpu && s.runtime->offload.mode != model::Offload::stream &&
      host.ram_bandwidth.value() <= 0)
    throw Skipped(Skip::setting, "the bandwidth of the host's memory");
  const bool prompts = statistic != step && statistic != serving_step;
  if (on_cpu && prompts && s.runtime->offload.mode != model::Offload::stream &&
      host.cpu_peak.value() <= 0)
    throw Skipped(Skip::setting, "the processor");
}

/// An engine that computes host layers leaves open how many those are.
void require_layers(const Measurement& row, const Scenario& s) {
  if (s.runtime->offload.mode != model::Offload::compute || s.layer_split != nullptr ||
      s.machine->devices.empty() || row["gpu_layers"] == "auto")
    return;
  const model::Plan plan = place(s, 1.0);
  if (plan.feasible() && (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.partly_on_host))
    throw Skipped(Skip::setting, "how many layers are on the cards");
}

/// Bytes of all cards; endless where there are none to be short of.
double capacity(const Machine& machine) {
  double bytes = 0;
  for (const Device& device : machine.devices) bytes += usable_memory(device).real().value();
  return bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

}  // namespace

bool is_of_loading(Statistic statistic) { return statistic >= load; }

void require_what_time_depends_on(const ScoredRow& subject) {
  require_host_speeds(subject.scenario, subject.statistic);
  require_layers(*subject.row, subject.scenario);
}

void require_what_loading_depends_on(const ScoredRow& subject) {
  const Scenario& s = subject.scenario;
  const bool warm = subject.statistic == load_warm || subject.statistic == load_weights_warm;
  if (warm && s.machine->devices.empty() &&
      s.runtime->offload.host_weights == model::HostWeights::mapped)
    throw Skipped(Skip::statistic, "files are mapped, and no weight is read");
  if (!warm && s.machine->host.disk_read.value() <= 0)
    throw Skipped(Skip::setting, "the disk's speed");
}

void require_capacity(const ScoredRow& subject, double bytes) {
  const bool of_all_cards = subject.statistic == resident_allocated ||
                            subject.statistic == allocated_peak || subject.statistic == card_used;
  const Machine& machine = *subject.scenario.machine;
  if (of_all_cards && bytes > capacity(machine))
    throw Skipped(Skip::capacity, fmt::format("{:.4g} GiB on {}", bytes / GiB,
                                              counted(std::ssize(machine.devices), "card")));
}

}  // namespace headroom::sweep
