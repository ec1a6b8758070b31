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

/// Tensors that ranks cut across their rows, as in memory: LoadTime::bus.
struct Cut {
  RealBytes whole, part;  ///< bytes of all ranks, and of one
};

Cut cut_across_rows(const Scenario& s, const Plan& plan, Size card) {
  const Range layers = plan.layers_of(card);
  const Divided divided = s.weights->shards.layers(layers.first, layers.last);
  const Rank rank = plan.rank(card, *s.runtime);
  Cut cut;
  const auto add = [&](RealBytes bytes, Size cards) {
    if (cards <= 1) return;
    cut.whole += bytes;
    cut.part += bytes / static_cast<double>(cards);
  };
  add(divided.strided.real(), rank.cards);
  const Size groups = rank.expert_groups;
  add(divided.strided_experts.real() / static_cast<double>(groups), rank.expert_cards / groups);
  return cut;
}

/// The bytes of files that one process reads and copies.
struct Share {
  RealBytes read;    ///< pages that it touches
  RealBytes moved;   ///< over its bus
  RealBytes copied;  ///< through host memory
};

/// The share of the rank of `card`, where ranks divide the files.
Share share_of_rank(const Uses& uses, const Plan& plan, Size card) {
  const Scenario& s = uses.scenario();
  const double of_files = s.weights->of_files;
  const RealBytes moved = weights_on(uses, plan, card) * of_files;
  const Cut cut = cut_across_rows(s, plan, card);
  return {moved + (cut.whole - cut.part) * of_files, moved, moved + cut.whole * of_files};
}

/// Reading mapped files from the disk.
Seconds disk_seconds(const Scenario& s, RealBytes bytes) {
  return bytes / (s.runtime->weights.load_disk_share.value * s.machine->host.disk_read);
}

/// Waits of one process for pages that are not there yet.
Seconds wait_seconds(const Scenario& s, RealBytes bytes) {
  return bytes / BytesPerSecond(s.runtime->weights.load_read_bandwidth.value);
}

/// Reading whole files in threads, into buffers: one file of the usual size.
Seconds read_ahead_seconds(const Scenario& s, RealBytes files) {
  constexpr RealBytes usual_file(5e9);
  return wait_seconds(s, std::min(files, usual_file));
}

}  // namespace

Seconds graph_start_seconds(const Scenario& s) {
  if (!s.runtime->kernels.graphs || s.enforce_eager) return {};
  const Size layers = divided_up(std::ssize(s.weights->layer), std::max<Size>(s.stages(), 1));
  return static_cast<double>(layers) * Seconds(s.runtime->weights.load_layer_s.value);
}

Seconds read_seconds(const Scenario& s, RealBytes bytes) {
  return disk_seconds(s, bytes) + wait_seconds(s, bytes);
}

RealBytes bytes_read(const Scenario& s, const Plan& plan) {
  const QuantisedModel& w = *s.weights;
  const bool read = w.from_files != FromFiles::as_they_are;
  return draft_bytes(s).real() + w.of_files * (read ? w.total : w.total - disk_use(s, plan)).real();
}

namespace {

/// Weights on cards: adds their copies, and returns the pages that one process touches for them.
RealBytes add_cards(const Uses& uses, const Plan& plan, LoadTime& time) {
  const Scenario& s = uses.scenario();
  const Engine& r = *s.runtime;
  const BytesPerSecond process(r.weights.load_copy_bandwidth.value);
  const bool ranks = r.parallel.split == Split::tensors;
  RealBytes all, touched;
  for (Size card = plan.first_used_card; card < plan.cards; ++card) {
    const RealBytes weights = weights_on(uses, plan, card), whole = weights * s.weights->of_files;
    const Share share = ranks ? share_of_rank(uses, plan, card) : Share{whole, whole, whole};
    const Seconds over = std::max(share.copied / process, share.moved / s.machine->host_bus(0));
    const Seconds packed = s.weights->from_files == FromFiles::packed
                               ? pack_seconds(s, card, share.moved, weights)
                               : Seconds();
    all += share.moved;
    touched = ranks ? std::max(touched, share.read) : touched + share.read;
    time.bus = ranks ? std::max(time.bus, over) : time.bus + over;
    time.pack = ranks ? std::max(time.pack, packed) : time.pack + packed;
  }
  const BytesPerSecond ram = s.machine->host.ram_bandwidth;
  if (ranks && ram > BytesPerSecond()) time.bus = std::max(time.bus, 2 * all / ram);
  return touched;
}

}  // namespace

LoadTime load_time(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  const QuantisedModel& w = *s.weights;
  const Engine& r = *s.runtime;
  const BytesPerSecond process(r.weights.load_copy_bandwidth.value);
  const bool packs = w.from_files == FromFiles::packed;
  const bool as_they_are = w.from_files == FromFiles::as_they_are;
  LoadTime time;
  time.fixed = Seconds(r.weights.load_fixed_s.value);
  time.layers = graph_start_seconds(s);
  time.tensors = static_cast<double>(w.file_tensors) * Seconds(r.weights.load_tensor_s.value);
  RealBytes files = bytes_read(s, plan), read_by_host;
  const bool held =
      files <= std::min(s.ram_budget, s.machine->host.ram).real();  // by the page cache
  if (const RealBytes own = uses.host_weights(plan).real(); own > RealBytes()) {
    if (as_they_are && r.offload.host_weights == HostWeights::mapped) {
      const RealBytes mapped = std::min(files, own);
      files -= mapped;
      time.mapped = read_seconds(s, mapped);
    } else if (!(as_they_are && r.offload.host_weights == HostWeights::fetched)) {
      time.copy = own * w.of_files / process;
      read_by_host = own * w.of_files;
    }
    if (packs) time.pack = pack_seconds(s, -1, own * w.of_files, own);
  }
  const RealBytes on_cards = add_cards(uses, plan, time);
  const bool ranks = r.parallel.split == Split::tensors;
  const RealBytes touched = ranks ? std::min(files, on_cards + read_by_host) : files;
  if (r.weights.reads_ahead && held) {
    time.again = read_ahead_seconds(s, files);
    time.read = files / s.machine->host.disk_read + time.again;
  } else if (files > RealBytes()) {
    time.read = disk_seconds(s, files) + wait_seconds(s, touched);
    if (!held) time.again = time.read;
  }
  if (const RealBytes left = disk_use(s, plan).real(); left > RealBytes() && !as_they_are)
    time.copy += read_seconds(s, left);
  return time;
}

}  // namespace headroom::model
