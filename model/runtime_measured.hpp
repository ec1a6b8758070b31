// The constants of engines that measured rows give: model/catalogue/constants.tsv, written by
// `headroom accuracy --fit`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/runtime.hpp"

namespace headroom::model {

/// A constant by its name in the file, in `headroom runtimes` and in reports.
struct NamedConstant {
  std::string_view name;
  Constant Runtime::*of_runtime = nullptr;  ///< or
  Constant Rates::*of_rates = nullptr;
};
std::span<const NamedConstant> named_constants();

std::string_view name_of(CardClass cards);
std::string_view name_of(Width width);

/// Lays the file over `rows`, each line over those of its generation (generation_of). Rates that
/// have no row of their own take those of the same width on any card, then of the engine on any
/// card, as unmeasured; but the share of a card's bandwidth, which is more the card's than the
/// engine's, takes what half of two engines or more reach with that width on such cards, each by
/// three measurements or more, where that is more: an engine measured on one slow card is not slow
/// on others. Throws std::logic_error naming the line for an unknown name.
void apply_measured(std::vector<Runtime>& rows, std::string_view lines);
/// The same of the embedded file.
void apply_measured(std::vector<Runtime>& rows);

}  // namespace headroom::model
