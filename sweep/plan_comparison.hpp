// The candidates of a plan side by side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sweep/plan_screen.hpp"

namespace headroom::sweep {

/// "2.29 USD an hour"; empty without prices.
std::string cost_words(const PlanScreen& screen, const Candidate& candidate);

/// "bought", "second-hand" or "rented".
constexpr std::string_view acquisition_words(model::Acquisition way) {
  constexpr std::string_view all[] = {"bought", "second-hand", "rented"};
  return all[static_cast<std::size_t>(way)];
}

/// Output tokens a second of all machines.
inline double fleet_tokens_s(const Candidate& c) {
  return static_cast<double>(c.machines) * tokens_s(c);
}

/// At most `most` rows of at most 100 columns: the columns in which candidates differ, and of the
/// others as many as there is room for.
std::string plan_comparison(const PlanScreen& screen, std::size_t most);

}  // namespace headroom::sweep
