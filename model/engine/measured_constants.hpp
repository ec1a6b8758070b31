// The constants of engines that measured rows give: model/engine/constants.tsv and effects.tsv.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// A constant by its name in the file, in `headroom runtimes` and in reports.
struct NamedConstant {
  std::string_view policy, name;              ///< table and key in TOML
  Constant& (*of_engine)(Engine&) = nullptr;  ///< or
  Constant KernelEfficiency::*of_efficiency = nullptr;

  Constant& in(Engine& engine) const { return of_engine(engine); }
  const Constant& in(const Engine& engine) const { return of_engine(const_cast<Engine&>(engine)); }
};
std::span<const NamedConstant> named_constants();

std::string_view name_of(CardClass cards);
std::string_view name_of(Width width);

/// What a class of cards and a width of weights multiply a rate of an engine by, where nothing is
/// measured: a line of model/engine/effects.tsv.
struct CellFactors {
  std::array<double, card_classes> by_card{};
  std::array<double, widths> by_width{};
  double spread = 0;  ///< of the logarithm, beside that of the rate on any card
};
/// `any` on these cards, at this width: of four digits, as unmeasured.
Constant of_cell(const Constant& any, const CellFactors& factors, std::size_t cards,
                 std::size_t width);

/// Lays `constants` over `rows`, each line over those of its generation (Engine::generation). Rates
/// that have no line of their own follow from the engine's on any card and the `effects` of its
/// family. Throws std::logic_error naming the line for an unknown name.
void apply_measured(std::vector<Engine>& rows, std::string_view constants,
                    std::string_view effects);
/// The same of the embedded files.
void apply_measured(std::vector<Engine>& rows);

}  // namespace headroom::model
