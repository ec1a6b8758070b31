// Speculative decoding as a user asks for it: one form for flags, specs and reports.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/scenario/scenario.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

class Hub;

/// The source of proposed tokens, and their number in a step.
struct Speculation {
  model::Proposer proposer = model::Proposer::model;
  std::string model;  ///< a draft model or a head; empty: none
  Size tokens = 0;
  std::optional<double> acceptance;  ///< share of all that are kept; none: as measured elsewhere

  /// "mtp:3": the form that parse_speculation() reads.
  std::string text() const;
};

/// Tokens proposed in a step at most: longer chains than this are not measured anywhere.
inline constexpr Size most_proposed = 64;
inline constexpr std::string_view speculation_form =
    "METHOD:N or METHOD:MODEL:N with a number of tokens N, and @SHARE for the share of them that "
    "is "
    "kept: mtp:2, ngram:4@0.5, draft:meta-llama/Llama-3.2-1B:5@0.7, eagle3:MODEL:3, "
    "dflash:MODEL:7";

/// Throws std::invalid_argument.
Speculation parse_speculation(const std::string& text);
double parse_share(const std::string& text);

/// --speculate, or --draft-model with its flags; none: nothing is proposed. Throws UsageError.
std::optional<Speculation> speculation_of(const Options& options);

/// A draft with what it points to.
struct GivenDraft {
  std::unique_ptr<model::Model> model;             ///< null: owned elsewhere, or none
  std::unique_ptr<model::QuantisedModel> weights;  ///< likewise
  std::unique_ptr<model::Engine> engine;  ///< with wider intervals where acceptance has one
  model::Draft draft;
  model::Acceptance acceptance;  ///< sources 0: as the user says
};

/// `asked` for `scenario`, with the weights of a draft model or a head. Throws
/// std::invalid_argument if the engine or the model cannot do it, or the engine does not allow so
/// many tokens. It also throws for incompatible vocabularies and an unknown acceptance.
std::unique_ptr<GivenDraft> make_draft(const Speculation& asked, const model::Scenario& scenario,
                                       const model::QuantisedModel* proposer);

/// Shares of all proposed tokens that are kept, with their interval.
model::Acceptance shares_kept(const GivenDraft& given);

/// Throws std::invalid_argument where the scenario's engine or model has no use for `draft`.
void check_draft(const model::Scenario& scenario, const model::Draft& draft);

/// The draft that the options ask for; null: none. Puts it, and the engine, into `scenario`. Throws
/// UsageError.
std::unique_ptr<GivenDraft> add_draft(const Options& options, model::Scenario& scenario,
                                      std::vector<std::string>& assumed);

/// Counts of a draft model or a head with this name. Throws as resolve_model does.
model::Model proposer_model(const Speculation& asked, const Hub& hub);

}  // namespace headroom::sweep
