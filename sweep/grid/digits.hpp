// The axes of one [[grid]] laid out as digits.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/engine/loaded_weights.hpp"
#include "sweep/factors.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// Objects behind the names of a spec. The job owns everything found.
struct Names {
  const Catalogue& catalogue;
  const Engines& engines;
  Job& job;
  std::map<std::string, const model::Model*> models;
  std::map<std::string, const Machine*> machines;
  using InScheme = std::pair<const model::Model*, const model::Scheme*>;
  std::map<InScheme, const model::QuantisedModel*> held;
  std::map<std::string, const model::QuantisedModel*, std::less<>> drafts;  ///< by the spec's name
  std::map<std::string, const ServedExtra*, std::less<>> extras;            ///< by axis and text
  std::map<std::pair<const model::Model*, model::LoadedForm>, const model::Model*> in_forms;
  /// Drafts by weights, engine and value of the axis.
  std::map<std::tuple<const model::QuantisedModel*, const model::Engine*, const ServedExtra*>,
           const GivenDraft*>
      made_drafts;
  /// With adapters: by weights, engine, adapters and how many of them a pass reads.
  std::map<std::tuple<const model::QuantisedModel*, const model::Engine*, const ServedExtra*, Size>,
           const model::QuantisedModel*>
      adapted;

  const Machine* machine(const std::string& text);
  /// `scheme`: not null.
  const model::QuantisedModel* weights(const model::Model* model, const model::Scheme* scheme);
  /// Puts the weights of each into `held`, by several threads.
  void hold(const std::vector<InScheme>& asked);
  /// Throws std::invalid_argument for a value that is not understood.
  const ServedExtra* extra(std::string_view axis, const std::string& text);
  /// Throws std::invalid_argument where the engine does not hold such adapters.
  const model::QuantisedModel* with(const ServedExtra& adapters, const model::Scenario& scenario);
  /// Throws std::invalid_argument where the engine or the model cannot decode so.
  const GivenDraft* draft(const ServedExtra& asked, const model::Scenario& scenario);
  /// `model` with the changes of `form`.
  const model::Model* in_form(const model::Model* model, model::LoadedForm form);
};

/// Puts what `over` decides into `choice`.
void overlay(Choice& choice, const Choice& over);

/// The digits of `grid`, the last the fastest. Axes that are linked share a digit. Models and
/// precisions also share one, because the meaning of `auto` depends on the model. So do machines
/// and budgets, because the end of a budget depends on the card. Equal combinations appear once.
std::vector<std::vector<Choice>> digits_of(const Spec& spec, const GridSpec& grid, Names& names);

/// A digit as the database keeps it: a column for each axis that its choices decide, and for each
/// fact that follows from them.
report::Digit columns_of(const std::vector<Choice>& digit,
                         const std::optional<Prices>& prices = {});

}  // namespace headroom::sweep
