#include "model/infer/timeline/load.hpp"

#include <algorithm>

#include "hardware/units.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/timeline/rates.hpp"

namespace headroom::model {
namespace {

/// Weights of `card` that come from files.
double weights_on(const Uses& uses, const Plan& plan, Size card) {
  const Bytes held = uses.weights(plan, card);
  return real_count(card == 0 ? held - plan.streaming_buffer : held);
}

/// Seconds to read `in` bytes and write `out` on a card, or where there is none on the CPU.
double pack_seconds(const Scenario& s, Size card, double in, double out) {
  const double rate =
      card < 0 ? cpu_rate(s).bytes_s
               : card_rate(s, s.machine->devices[static_cast<std::size_t>(card)]).bytes_s;
  return (in + out) / rate;
}

}  // namespace

double read_seconds(const Scenario& s, double bytes) {
  return bytes / s.machine->host.disk_read.value() +
         bytes / s.runtime->weights.load_read_bandwidth.value;
}

double LoadTime::cold() const { return fixed + read + copy + bus + pack; }

double bytes_read(const Scenario& s, const Plan& plan) {
  const QuantisedModel& w = *s.weights;
  const double draft = s.draft != nullptr ? real_count(s.draft->weights->total) : 0;
  const bool read = w.from_files != FromFiles::as_they_are;
  return draft + w.of_files * real_count(read ? w.total : w.total - disk_use(s, plan));
}

LoadTime load_time(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  const QuantisedModel& w = *s.weights;
  const Engine& r = *s.runtime;
  const double process = r.weights.load_copy_bandwidth.value;
  const bool packs = w.from_files == FromFiles::packed;
  const bool as_they_are = w.from_files == FromFiles::as_they_are;
  LoadTime time;
  time.fixed = r.weights.load_fixed_s.value;
  double files = bytes_read(s, plan);
  const bool held =
      files <= real_count(std::min(s.ram_budget, s.machine->host.ram));  // by the page cache
  if (const double own = real_count(uses.host_weights(plan)); own > 0) {
    if (as_they_are && r.offload.host_weights == HostWeights::mapped) {
      const double mapped = std::min(files, own);
      files -= mapped;
      time.mapped = read_seconds(s, mapped);
    } else if (!(as_they_are && r.offload.host_weights == HostWeights::fetched)) {
      time.copy = own * w.of_files / process;
    }
    if (packs) time.pack = pack_seconds(s, -1, own * w.of_files, own);
  }
  if (files > 0) time.read = read_seconds(s, files);
  if (!held) time.again = time.read;
  if (const double left = real_count(disk_use(s, plan)); left > 0 && !as_they_are)
    time.copy += read_seconds(s, left);
  const bool ranks = r.parallel.split == Split::tensors;
  double all = 0;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const double weights = weights_on(uses, plan, card), moved = weights * w.of_files;
    const double over = moved / std::min(process, s.machine->host_bus(0).value());
    const double packed = packs ? pack_seconds(s, card, moved, weights) : 0;
    all += moved;
    time.bus = ranks ? std::max(time.bus, over) : time.bus + over;
    time.pack = ranks ? std::max(time.pack, packed) : time.pack + packed;
  }
  const double ram = s.machine->host.ram_bandwidth.value();
  if (ranks && ram > 0) time.bus = std::max(time.bus, 2 * all / ram);
  return time;
}

}  // namespace headroom::model
