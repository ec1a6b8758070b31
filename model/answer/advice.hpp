// Advice for a model that does not fit, or only with offload: the smallest changes that help, as
// values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"

namespace headroom::model {

/// The placement of a model after a change.
struct AfterChange {
  int gpus = 0;
  Bytes card{};  ///< on the fullest card
  Bytes host{}, disk{};
  Seconds token{};
  bool on_gpus = false;  ///< all of it, and no sequence of the batch waits
};
AfterChange after_change(const Estimate& estimate);

/// Options that keep weights in host memory and that a change leaves out. `no_budget`: nothing of
/// the cards, which may be the program's own choice.
enum class Freed { none, cpu_offload, host_tensors, no_budget };

struct Advice {
  enum class Kind {
    fewer_bits,       ///< name: of the scheme; before, after: bytes of the weights
    usable_bits,      ///< name: of the widest scheme that decodes a token a second; before, after
                      ///< engine, if it is another; amount: 1 for less than 4 bits
    text_only,        ///< without towers of images and sound; before: their bytes
    narrower_cache,   ///< name: of the format
    shorter_context,  ///< amount: tokens; instead_of
    smaller_batch,    ///< amount; instead_of
    larger_share,     ///< amount: percent of each card's memory that the engine takes
    other_sequences,  ///< amount: sequences at once to ask the engine for, instead of those stated
    more_cards,       ///< amount: cards; name: of the card; instead_of, or 0 where others stay
    engines_own_split,  ///< the engine's split of the same cards
    freed_alone,        ///< nothing but leaving `freed` out
    no_cards,           ///< the CPU alone answers sooner; name: of weights unpacked for it
    caches_on_host,     ///< an engine that streams weights keeps caches in host memory
    weights_on_host,    ///< amount: GiB of each card's weights that the engine holds back
    engine_offloads,    ///< engine: the fastest that offloads
    engine_on_cpu,      ///< engine, name: of the scheme
    split,              ///< tensor, pipeline; engine: another one than was asked for, else empty
    one_box,            ///< amount: cards of one machine
    layers_over_cards,  ///< no split that was asked for: layers go on the cards
    fewer_layers,       ///< amount: the most of the last layers that fit on cards
    at_most_context,    ///< amount: the model's positions
    keep_cache,
    other_cache,        ///< engine, name: asked for; names: formats it has; others: engines with it
    one_cache_format,   ///< engine, name: of keys; names: of values; text: how far the engine
                        ///< combines formats; others: engines that combine these here
    other_precision,    ///< engine, name: of the scheme; text: why it is refused; names: usual
                        ///< precisions of the engine; others: compared engines that load it
    engines_for_cards,  ///< names: of engines
    engines_for_model,  ///< name: of the class; names: of engines
    needs_gpu,          ///< engine
    host_memory,        ///< before: what is short
    disk,               ///< before: what is short
    other_model,        ///< text: a smaller model, name: of the scheme; after: bytes of its weights
    smaller_model       ///< nothing else helps; amount: 1 if it runs, 0 if it does not
  };
  Kind kind;
  AfterChange then{};
  std::string_view engine{}, name{};
  Size amount = 0, instead_of = 0;
  Size tensor = 0, pipeline = 0;
  Bytes before{}, after{};
  std::vector<std::string_view> names{}, others{};
  std::string text{};
  Freed freed = Freed::none;
};

/// Alternatives, from evaluating the changes themselves: fewer bits of weights or caches, a shorter
/// context, a smaller batch, more cards, offload, more host memory. Empty when everything is on
/// cards, and where the placement is given.
std::vector<Advice> advice(const Scenario& scenario, const Estimate& estimate);

/// Memory of a single card that would hold everything: weights, caches, activations, context and
/// the allocator's overhead, divided by the share that the engine uses. 0 if the scenario is
/// refused.
Bytes min_card(const Scenario& scenario);

/// Memory of each of the cards that would hold everything. It is more than theirs and what is short
/// together: the engine takes a share of a card. 0: memory of cards is not what is short, or a
/// budget limits it.
Bytes needed_of_each_card(const Scenario& scenario, const Estimate& estimate);

}  // namespace headroom::model
