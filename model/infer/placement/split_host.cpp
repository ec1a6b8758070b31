// Weights that are not on cards: host memory first, then disk.
#include <algorithm>

#include "model/engine/loaded_scheme.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

// Kernels of cards run no weights here, and an engine that sees a card does not unpack them
// (transformers 5.24 quantizer_finegrained_fp8.py: "make sure to set your model on a GPU").
bool runs_on_cpu(const Scenario& s) {
  return s.runtime->offload.cpu && loading_of(*s.weights->model, *s.weights->scheme, *s.runtime,
                                              machine_without_cards()) == Loading::as_stored;
}

Plan on_cpu_only(const Uses& uses) {
  const Scenario& s = uses.scenario();
  const Size layers = std::ssize(s.weights->layer);
  Plan plan;
  plan.on_cards = {0, 0};
  plan.on_cpu = {0, layers};
  plan.on_disk = {layers, layers};
  plan.embedding = plan.head = Where::cpu;
  if (!uses.setup().runs_on_cpu()) {
    plan.reason = s.machine->devices.empty() ? Reason::no_gpu : Reason::gpu_memory;
    plan.short_bytes = s.weights->total;
  }
  return plan;
}

namespace {

/// True if weights may stay on disk. An engine that computes on the CPU reads them by its map of
/// the file (llama.cpp llama-mmap.cpp), which Scenario::maps_files may forbid.
bool leaves_on_disk(const Scenario& s) {
  return s.runtime->offload.disk && (s.maps_files || s.runtime->offload.mode != Offload::compute);
}

/// The most of the tensors kept in host memory that can be read from the mapped file instead.
/// Tables of layers on cards are among them: a token reads a few rows, so their pages leave memory
/// first. Tensors that the CPU repacks are copies (ggml-cpu/repack.cpp). An engine's own fit puts
/// experts there whatever host memory there is, and multiplies them in the mapped file (llama.cpp
/// b10700 common/fit.cpp counts the host only without cards; ktransformers operators/experts.py
/// get_mmap_tensor, llamafile/moe.cpp).
Bytes most_kept_on_disk(const Scenario& s, const Plan& plan) {
  const bool stays = s.layer_split != nullptr || plan.partly_on_host;
  if (s.runtime->offload.mode != Offload::compute) return Bytes(0);
  const bool mapped = stays && !s.runtime->weights.repacks_on_cpu;
  return tables_on_host(s, plan.on_cards) + (mapped ? weights_kept_on_host(s, plan) : Bytes(0));
}

}  // namespace

void place_in_host(const Uses& uses, Plan& plan, double factor) {
  const Scenario& s = uses.scenario();
  const Bytes limit = ram_limit(uses, plan, factor);
  const HostUse use = uses.host(plan);
  if (use.total() <= limit) return;
  // The tail of the CPU's layers goes to disk. With a streaming runtime, the head follows them as
  // the last module that its mapper places, unless it is the embedding's own tensor.
  Bytes other_bytes = use.total() - layer_bytes(*s.weights, plan.on_cpu);
  const bool with_embedding = s.weights->model->profile.tied_head && plan.embedding == Where::cpu;
  if (s.runtime->offload.mode == Offload::stream && plan.head == Where::cpu && !with_embedding &&
      leaves_on_disk(s)) {
    other_bytes -= head_bytes(s, false);
    plan.head = Where::disk;
  }
  Bytes layers_room = limit - other_bytes;
  if (leaves_on_disk(s) && layers_room < Bytes(0)) {
    plan.kept_on_disk = std::min(Bytes(0) - layers_room, most_kept_on_disk(s, plan));
    layers_room += plan.kept_on_disk;
  }
  if (layers_room < Bytes(0) || !leaves_on_disk(s)) {
    plan.reason = Reason::ram;
    plan.short_bytes = leaves_on_disk(s) ? Bytes(0) - layers_room : use.total() - limit;
    return;
  }
  const Size first = plan.on_cpu.first, last = plan.on_cpu.last;
  const auto before = s.weights->layers_before.begin();
  const Bytes end = before[first] + layers_room;
  const Size kept = std::upper_bound(before + first, before + last + 1, end) - before - 1;
  plan.on_disk = {kept, last};
  plan.on_cpu.last = kept;
  const Bytes disk = std::min(s.disk_budget, s.machine->host.disk);
  if (const Bytes left = disk_use(s, plan); left > disk) {
    plan.reason = Reason::disk;
    plan.short_bytes = left - disk;
  }
}

}  // namespace headroom::model
