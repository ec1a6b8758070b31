// A plan as a person reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hardware/price.hpp"
#include "sweep/plan/plan.hpp"

namespace headroom::sweep {

/// A question with its ranked candidates, at least one, and what they rest on.
struct PlanScreen {
  const Question& question;
  std::span<const Candidate> candidates;  ///< the best first
  const model::Target& target;
  const Prices* prices = nullptr;   ///< null: not about money
  bool has_own_prices = false;      ///< the user's; otherwise the shipped reference rents
  bool has_chosen_ways = false;     ///< engine or precision was left out and chosen
  bool has_chosen_weights = false;  ///< the precision was left out and chosen
  bool has_usual_context = false;   ///< nothing was said about tokens
  std::size_t models = 0, machines = 0;
  std::size_t rows = 10;  ///< most rows of the comparison
  std::vector<std::string> assumed;
  std::vector<std::string> left_out;  ///< machines that no candidate stands for, with the reason
  std::string strict_answer;          ///< the winner with --strict, if it is another
};

/// The answer first: at most 30 lines of at most 100 columns, but for long names.
std::string plan_screen(const PlanScreen& screen);

/// Every figure of the best and of the runner-up, what binds, and what room is left.
std::string plan_details(const PlanScreen& screen);

/// The source of the rents, and that they age. Empty where the prices are the user's.
std::string price_words(const PlanScreen& screen);

}  // namespace headroom::sweep
