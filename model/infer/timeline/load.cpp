#include "model/infer/timeline/load.hpp"

#include <algorithm>

#include "hardware/units.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

/// Weights of `card` that come from files.
RealBytes weights_on(const Uses& uses, const Plan& plan, Size card) {
  const Bytes held = uses.weights(plan, card);
  return (card == 0 ? held - plan.streaming_buffer : held).real();
}

/// Seconds to read `in` bytes and write `out` on a card, or where there is none on the CPU.
Seconds pack_seconds(const Scenario& s, Size card, RealBytes in, RealBytes out) {
  const BytesPerSecond rate =
      card < 0 ? cpu_rate(s).bytes_s
               : card_rate(s, s.machine->devices[static_cast<std::size_t>(card)]).bytes_s;
  return (in + out) / rate;
}

}  // namespace

Seconds read_seconds(const Scenario& s, RealBytes bytes) {
  return bytes / s.machine->host.disk_read +
         bytes / BytesPerSecond(s.runtime->weights.load_read_bandwidth.value);
}

RealBytes bytes_read(const Scenario& s, const Plan& plan) {
  const QuantisedModel& w = *s.weights;
  const bool read = w.from_files != FromFiles::as_they_are;
  return draft_bytes(s).real() + w.of_files * (read ? w.total : w.total - disk_use(s, plan)).real();
}

LoadTime load_time(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  const QuantisedModel& w = *s.weights;
  const Engine& r = *s.runtime;
  const BytesPerSecond process(r.weights.load_copy_bandwidth.value);
  const bool packs = w.from_files == FromFiles::packed;
  const bool as_they_are = w.from_files == FromFiles::as_they_are;
  LoadTime time;
  time.fixed = Seconds(r.weights.load_fixed_s.value);
  RealBytes files = bytes_read(s, plan);
  const bool held =
      files <= std::min(s.ram_budget, s.machine->host.ram).real();  // by the page cache
  if (const RealBytes own = uses.host_weights(plan).real(); own > RealBytes()) {
    if (as_they_are && r.offload.host_weights == HostWeights::mapped) {
      const RealBytes mapped = std::min(files, own);
      files -= mapped;
      time.mapped = read_seconds(s, mapped);
    } else if (!(as_they_are && r.offload.host_weights == HostWeights::fetched)) {
      time.copy = own * w.of_files / process;
    }
    if (packs) time.pack = pack_seconds(s, -1, own * w.of_files, own);
  }
  if (files > RealBytes()) time.read = read_seconds(s, files);
  if (!held) time.again = time.read;
  if (const RealBytes left = disk_use(s, plan).real(); left > RealBytes() && !as_they_are)
    time.copy += read_seconds(s, left);
  const bool ranks = r.parallel.split == Split::tensors;
  RealBytes all;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const RealBytes weights = weights_on(uses, plan, card), moved = weights * w.of_files;
    const Seconds over = moved / std::min(process, s.machine->host_bus(0));
    const Seconds packed = packs ? pack_seconds(s, card, moved, weights) : Seconds();
    all += moved;
    time.bus = ranks ? std::max(time.bus, over) : time.bus + over;
    time.pack = ranks ? std::max(time.pack, packed) : time.pack + packed;
  }
  const BytesPerSecond ram = s.machine->host.ram_bandwidth;
  if (ranks && ram > BytesPerSecond()) time.bus = std::max(time.bus, 2 * all / ram);
  return time;
}

}  // namespace headroom::model
