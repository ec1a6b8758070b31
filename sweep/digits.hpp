// The axes of one [[grid]] laid out as digits.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sweep/factors.hpp"
#include "sweep/job.hpp"

namespace headroom::sweep {

/// What names of a spec stand for; everything found is owned by the job.
struct Names {
  const Catalogue& catalogue;
  const Engines& engines;
  Job& job;
  std::map<std::string, const model::Model*> models;
  std::map<std::string, const Machine*> machines;
  std::map<std::pair<const model::Model*, const model::Scheme*>, const model::Weights*> held;

  const Machine* machine(const std::string& text);
  /// `scheme` null: the checkpoint's own.
  const model::Weights* weights(const model::Model* model, const model::Scheme* scheme);
};

/// Puts what `over` decides into `choice`.
void overlay(Choice& choice, const Choice& over);

/// The digits of `grid`, the last the fastest. Axes that are linked share a digit. So do models and
/// precisions, because what `auto` means is the model's business, and machines and budgets, because
/// where a budget ends is the card's: combinations that come out the same appear once.
std::vector<std::vector<Choice>> digits_of(const Spec& spec, const GridSpec& grid, Names& names);

/// A digit as the database keeps it: a column for each axis that its choices decide, and for each
/// fact that follows from them.
report::Digit columns_of(const std::vector<Choice>& digit,
                         const std::optional<Prices>& prices = {});

}  // namespace headroom::sweep
