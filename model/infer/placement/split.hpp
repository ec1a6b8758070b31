// The two ways in which several cards share a model, and what does not fit on them.
#pragma once

#include <algorithm>
#include <array>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Whole layers, card after card from the first; weights that do not fit stay in host memory and on
/// disk, and are streamed. Cards are as few as hold the model. `memory_factor` as in `place`.
Plan split_layers(const Uses& uses, double memory_factor);

/// The last layers are on the cards, and the CPU computes the first ones. The scenario's
/// layer_split decides, else the engine's own fit. It uses all cards. Experts of a mixture go to
/// host memory first, and then whole layers.
///
/// Items are n layers and then the output. `gpu_layers` of them are on cards: the last ones, or the
/// last layers and the output only if gpu_layers > n (Engine, offload.output_first). Item i of
/// those on cards is on the first card whose share, summed up, is above i / items. The token
/// embedding stays in host memory. Source: llama.cpp b6400 and b10700 src/llama-model.cpp
/// load_tensors.
///
/// Layers of a vision tower are not items. They are in a separate file (mmproj), which goes to the
/// first card if anything does (llama.cpp common/arg.cpp --mmproj-offload, tools/mtmd/clip.cpp).
Plan split_last_layers(const Uses& uses, double memory_factor);

/// The cards' shares in the order of the machine, summing to 1: the scenario's, else by budget.
std::array<float, 16> card_shares(const Scenario& scenario);

/// Weights that are not on cards go to host memory, and the rest to disk. Whole layers go first,
/// then tensors that stay in host memory although their layers are on cards. An engine that
/// computes on the CPU reads both from the file that it maps, unless it copies weights.
void place_in_host(const Uses& uses, Plan& plan, double memory_factor);

/// Everything on the CPU; a reason where the runtime cannot.
Plan on_cpu_only(const Uses& uses);
/// True if the runtime runs the weights there as they are loaded, whatever sizes and budgets are.
bool runs_on_cpu(const Scenario& scenario);

/// Every matrix over as many cards as divide the model, or as many as the scenario asks for, in
/// stages.
Plan split_tensors(const Uses& uses, double memory_factor);
/// True if every device has room for its part under split_tensors().
bool holds_division(const Uses& uses, double memory_factor);
/// True if the weights alone exceed the limit of a card of that division. At a factor of at most 1
/// fewer sequences do not help: less work is less uncertain, and the limit no higher.
bool weights_exceed_cards(const Uses& uses, double memory_factor);
/// Bytes that the cards of that division lack; 0: none.
Bytes short_on_cards(const Uses& uses, double memory_factor);
/// The division, whether or not it fits. It depends neither on sizes nor on budgets.
Plan divide_tensors(const Scenario& scenario);

/// True if the runtime keeps weights of this format wholly on cards, or wholly in host memory.
bool never_splits_weights(const Scenario& scenario);

inline Bytes rounded_down(double bytes) { return Bytes(static_cast<Size>(bytes)); }

/// Cards that one replica may use.
inline Size card_count(const Scenario& s) { return std::ssize(s.machine->devices); }

/// The head's bytes where it is: its own, and a copy of a tied embedding that is kept elsewhere
/// (llama.cpp duplicates token_embd as the output tensor).
Bytes head_bytes(const Scenario& scenario, bool with_embedding);

/// The largest `last` up to `end` such that layers [first, last) and their caches take at most
/// `left`; `first` where none does.
Size layers_that_fit(const Scenario& scenario, const CacheBytes& cache, Size first, Size end,
                     Bytes left);

/// The largest n in [low, high) for which `holds` is true. It is true of `low` and false of `high`,
/// and stays false above the first false value. The search starts at `guess` with doubling steps.
template <class F>
Size largest_near(Size guess, Size low, Size high, F&& holds) {
  if (high - low <= 1) return low;
  Size step = 1;
  if (const Size at = std::clamp(guess, low + 1, high - 1); holds(at)) {
    for (low = at; low + step < high && holds(low + step); step *= 2) low += step;
    high = std::min(high, low + step);
  } else {
    for (high = at; high - step > low && !holds(high - step); step *= 2) high -= step;
    low = std::max(low, high - step);
  }
  while (high - low > 1) {
    const Size middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

/// Host memory that the process may use, likewise, without the part that cards use of a shared
/// memory.
Bytes ram_limit(const Uses& uses, const Plan& plan, double memory_factor);

}  // namespace headroom::model
