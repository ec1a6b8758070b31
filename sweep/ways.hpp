// Ways to run a model on a machine, an engine and a precision each, compared.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/answer/way_order.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/engine/loaded_weights.hpp"
#include "sweep/factors.hpp"

namespace headroom::sweep {

/// One way with its estimate.
struct Way {
  const model::Engine* engine = nullptr;
  std::shared_ptr<const model::QuantisedModel> weights;
  model::Estimate estimate;
  bool tight = false;                    ///< as is_tight() has it
  const model::Scheme* asked = nullptr;  ///< null: the checkpoint's own precision
  bool without_towers = false;           ///< the model's towers, which other ways load
  double bits = 16;                      ///< as WayFacts has it
  double off_cards = 0;                  ///< share_off_cards()
  /// As Scenario has it, of the user or 0: the CPU alone, where cards would wait for weights.
  Bytes gpu_budget = model::unlimited;
  model::WayPlace place{};  ///< among the ways that it is compared with

  bool is_own() const { return asked == nullptr; }
};

/// `scenario` run by the way: its engine, weights and budget.
inline void run_by(model::Scenario& scenario, const Way& way) {
  scenario.runtime = way.engine;
  scenario.weights = way.weights.get();
  scenario.gpu_budget = way.gpu_budget;
}

/// True if the weights lose more than those of 4 bits do.
bool below_four_bits(const Way& way);

/// Memory that stays free on a card for what else it does: 1 GiB, and 1.5 GiB on cards with GDDR,
/// which may drive a display. 0 for unified memory, whose host has limits of its own.
Bytes spare_memory(const Device& card);
/// The most of the machine's cards; of memory that the host shares, what the host needs beyond what
/// the card's limit leaves it. 0 under a user's budget, and where an engine leaves a share of the
/// card free, or a margin of its own memory.
Bytes spare_memory(const model::Scenario& scenario);

/// True if everything is on cards, but at the high end of its interval no spare memory is left.
bool is_tight(const model::Scenario& scenario, const model::Estimate& estimate);

/// Output tokens a second of all requests, prompts included; 0: it does not run. One request counts
/// as one batch.
double served_tokens_s(const model::Scenario& scenario, const model::Estimate& estimate);

/// Facts about a way that the load does not change.
model::WayFacts facts_of(const Way& way);

/// The place of a way that `scenario` runs.
model::WayPlace place_of(const Way& way, const model::Scenario& scenario);

/// Share of the weights that are in host memory and on disk, 0 to 1. An embedding that the engine
/// always looks up in host memory does not count.
double share_off_cards(const model::Scenario& scenario);

/// The engines and precisions of a comparison.
struct Compared {
  std::vector<const model::Engine*> engines;  ///< at least one
  /// "auto": the checkpoint's own; empty: those that each engine is usually run with.
  std::vector<std::string> precisions;
  bool engine_asked = false;  ///< by the user: its model::asked_precisions() count, too
};

/// True if the engine runs weights in the precision; "auto", the checkpoint's own, always counts.
bool reads(const model::Engine& engine, std::string_view precision);

/// Engines that are compared for `model` on the scenario's machine: those whose kernels run on its
/// cards and whose code has the class. All of `engines` that may be compared where none does. The
/// other engines that hold one of `precisions`, if none of these holds any.
std::vector<const model::Engine*> comparable_engines(const Engines& engines,
                                                     const model::Model& model,
                                                     const Machine& machine,
                                                     std::span<const std::string> precisions = {});

/// Formats of GGUF files below 4 bits that join the engine's usual precisions where these leave
/// something to ask for.
std::vector<std::string_view> narrow_precisions(const model::Engine& engine);

/// A model's weights in schemes, each made when it is first asked for. The model must outlive it.
/// One thread at a time.
class HeldWeights {
 public:
  explicit HeldWeights(const model::Model& model) : index_(model) {}
  const model::Model& model() const { return index_.model; }
  std::shared_ptr<const model::QuantisedModel> in(const model::Scheme& scheme);
  /// As the engine loads them (model/engine/loaded_weights.hpp).
  std::shared_ptr<const model::QuantisedModel> in(const model::Scheme& scheme,
                                                  const model::Engine& engine);

 private:
  model::TensorIndex index_;
  std::map<std::pair<const model::Scheme*, model::LoadedForm>,
           std::shared_ptr<const model::QuantisedModel>>
      made_;
};

/// One engine and precision under the budgets of `scenario`, whose weights and engine are set here.
/// `asked`: null for the checkpoint's own.
Way way_of(HeldWeights& held, model::Scenario scenario, const model::Engine& engine,
           const model::Scheme* asked);

/// The ways by each engine and precision, the best first, in the order of model::WayPlace. None
/// counts as wider than the checkpoint or than the precision that was asked for.
/// `scenario`: its weights and engine are set here, and its budget where the CPU alone comes before
/// cards that wait for weights. Left out: ways that an engine refuses, unless
/// all are refused, and other formats as wide as a checkpoint that is quantised itself. Formats
/// of GGUF files below 4 bits join if no wider way is on the cards or decodes 10 tokens a second
/// for each request. Each has to decode one.
std::vector<Way> compare_ways(HeldWeights& held, const model::Scenario& scenario,
                              const Compared& compared);
std::vector<Way> compare_ways(const model::Model& model, const model::Scenario& scenario,
                              const Compared& compared);

/// Why the first of `ways`, as compare_ways() has them, is the first: "the widest weights that
/// fit".
std::string_view choice_words(const std::vector<Way>& ways, Size batch);

/// The first way of each precision, at most `most`.
std::vector<const Way*> best_of_each_precision(std::span<const Way> ways, std::size_t most);

}  // namespace headroom::sweep
