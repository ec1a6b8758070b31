#include "model/infer/confidence.hpp"

#include <algorithm>

#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/placement/high_end.hpp"
#include "model/infer/placement/split.hpp"

namespace headroom::model {
namespace {

/// An embedding in host memory is looked up there, unless weights are streamed.
bool uses_host(const Plan& plan) {
  return plan.on_cpu.size() > 0 || plan.head == Where::cpu || plan.partly_on_host ||
         (plan.embedding == Where::cpu && plan.streaming_buffer > Bytes(0));
}

}  // namespace

Verdict verdict_of(const Plan& plan) {
  if (is_of_memory(plan.reason)) return Verdict::does_not_fit;
  if (!plan.feasible()) return Verdict::refused;
  if (reads_disk(plan)) return Verdict::fits_disk_offload;
  if (uses_host(plan)) return Verdict::fits_cpu_offload;
  return cards_used(plan) > 1 ? Verdict::fits_gpus : Verdict::fits_one_gpu;
}

namespace {

/// True if the weights outside the cards surely have a place like that of `expected` at the low end
/// of the memory interval too. More room moves none of them to a slower place. Neither have the
/// cards room for everything then, nor cards and host if a part is on disk. Left out: memory that
/// cards and host share, where cards that hold more leave less to the host.
bool stays_offloaded(const Uses& uses, Verdict expected, double low) {
  const Scenario& s = uses.scenario();
  if (low > 1 || s.machine->has_unified_memory()) return false;
  Bytes room;
  for (Size card = 0; card < card_count(s); ++card)
    room += std::max(Bytes(0), uses.limit(card, low));
  if (expected == Verdict::fits_disk_offload)
    return s.weights->total > room + ram_limit(uses, Plan(), low);
  const Bytes caches = caches_on_cards(s) ? uses.all_caches() : Bytes(0);
  return s.weights->layers_before.back() - tables_on_host(s) + caches > room;
}

/// As confidence_of(), by the interval of memory alone.
Confidence of_memory(const Uses& uses, Verdict expected, Size cards, HighEnd known,
                     const Plan* plan) {
  const Engine& engine = *uses.scenario().runtime;
  const Constant& memory = engine.memory.interval;
  if (fits(expected) && engine.parallel.split == Split::tensors) {
    if (known == HighEnd::unknown && !holds_division(uses, memory.high))
      return Confidence::marginal;
    // A division that has room at the expected memory has room at less.
    return expected == Verdict::fits_one_gpu || memory.low <= 1 || holds_division(uses, memory.low)
               ? Confidence::yes
               : Confidence::marginal;
  }
  // Weights that are mapped and exceed the memory are read again for every token.
  if (expected == Verdict::fits_disk_offload && engine.offload.mode == Offload::compute)
    return Confidence::marginal;
  if (fits(expected)) {
    if (plan && expected <= Verdict::fits_gpus && !holds_at_high_end(uses, *plan))
      return Confidence::marginal;
    const Plan high = place(uses, memory.high);
    if (verdict_of(high) != expected || cards_used(high) != cards) return Confidence::marginal;
    if (expected == Verdict::fits_one_gpu) return Confidence::yes;
    if (expected > Verdict::fits_gpus && stays_offloaded(uses, expected, memory.low))
      return Confidence::yes;
    return verdict_of(place(uses, memory.low)) == expected ? Confidence::yes : Confidence::marginal;
  }
  if (engine.parallel.split == Split::tensors && memory.low <= 1 &&
      weights_exceed_cards(uses, memory.low))
    return Confidence::no;
  const Plan low = place(uses, memory.low);
  const bool may_fit = fits(verdict_of(low)) || max_admitted(uses, low, memory.low) ||
                       starts_only_with_fewer(uses, low, memory.low);
  return may_fit ? Confidence::marginal : Confidence::no;
}

}  // namespace

Confidence confidence_of(const Uses& uses, Verdict expected, Size cards, HighEnd known,
                         const Plan* plan) {
  if (is_doubtful(*uses.scenario().weights->model)) return Confidence::marginal;
  return of_memory(uses, expected, cards, known, plan);
}

bool is_open_by_doubts_alone(const Scenario& asked, const Estimate& e) {
  if (e.verdict == Verdict::refused || !is_doubtful(*asked.weights->model)) return false;
  const Scenario s = admitted_scenario(asked);
  const Uses uses(s);
  const Plan plan = place(uses, 1.0);
  return of_memory(uses, e.verdict, e.gpus_used, HighEnd::unknown, &plan) != Confidence::marginal;
}

}  // namespace headroom::model
