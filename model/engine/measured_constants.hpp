// The constants of engines that measured rows give: model/engine/constants.tsv and effects.tsv.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"
#include "model/engine/number_limits.hpp"

namespace headroom::model {

/// A constant by its name in the file, in `headroom runtimes` and in reports.
struct NamedConstant {
  std::string_view policy, name;              ///< table and key in TOML
  Constant& (*of_engine)(Engine&) = nullptr;  ///< or
  Constant KernelEfficiency::*of_efficiency = nullptr;
  NumberLimits limits{0, 1e12};  ///< for the value: a divisor is above 0, a share at most 1

  Constant& in(Engine& engine) const { return of_engine(engine); }
  const Constant& in(const Engine& engine) const { return of_engine(const_cast<Engine&>(engine)); }
};
std::span<const NamedConstant> named_constants();
/// Empty, or what is wrong with the numbers: "found 80; expected a number from 1e-06 to 1". An
/// interval may end ten times beyond the limit of the value.
std::string problem_of(const NamedConstant& which, const Constant& numbers);

std::string_view name_of(CardClass cards);
std::string_view name_of(Width width);

/// Factors of a family's rate where nothing is measured: a line of model/engine/effects.tsv.
struct CellFactors {
  std::array<double, card_classes> by_card{};
  std::array<double, widths> by_width{};
  double spread = 0;  ///< spread of the logarithm, added to the spread of the rate on any card
};
/// `rate` on these cards at this width, from its value on `any` card: four digits, unmeasured.
Constant of_cell(const NamedConstant& rate, const Constant& any, const CellFactors& factors,
                 std::size_t cards, std::size_t width);

/// Lays `constants` over `rows`. A line names the generations (Engine::generation) that share it,
/// separated by commas. Rates without a line of their own follow from the engine's rate on any card
/// and the `effects` of its family. Throws std::logic_error naming the line for an unknown name.
void apply_measured(std::vector<Engine>& rows, std::string_view constants,
                    std::string_view effects);

}  // namespace headroom::model
