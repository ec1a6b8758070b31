// The constants of engines that measured rows give: model/engine/constants.tsv.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// A constant by its name in the file, in `headroom runtimes` and in reports.
struct NamedConstant {
  std::string_view policy, name;              ///< table and key in TOML
  Constant& (*of_engine)(Engine&) = nullptr;  ///< or
  Constant Rates::*of_rates = nullptr;

  Constant& in(Engine& engine) const { return of_engine(engine); }
  const Constant& in(const Engine& engine) const { return of_engine(const_cast<Engine&>(engine)); }
};
std::span<const NamedConstant> named_constants();

std::string_view name_of(CardClass cards);
std::string_view name_of(Width width);

/// Lays the file over `rows`, each line over those of its generation (Engine::generation). Rates
/// that have no row of their own take those of the engine on any card, as unmeasured. Throws
/// std::logic_error naming the line for an unknown name.
void apply_measured(std::vector<Engine>& rows, std::string_view lines);
/// The same of the embedded file.
void apply_measured(std::vector<Engine>& rows);

}  // namespace headroom::model
