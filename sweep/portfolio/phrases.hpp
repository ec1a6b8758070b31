// The phrases that a portfolio's answers are put together of.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sweep/portfolio/portfolio.hpp"

namespace headroom::sweep {

/// "2 of 4x l40s @ host and 1 of cpu @ host".
std::string machines_words(const Portfolio& portfolio, const FleetPlan& plan);
/// "buy, rent".
std::string acquisition_words(const FleetPlan& plan);
/// "on cards", "offloaded".
std::string_view weights_words(const FleetPlan& plan);
/// "chat: 3 copies of 2 cards; …".
std::string where_words(const Portfolio& portfolio, const FleetPlan& plan);
/// Targets that a plan misses; empty for a plan that qualifies.
std::string missed_words(const Portfolio& portfolio, const FleetPlan& plan);
/// "0.4 to 0.6" an hour; an end at which the fleet does not serve is said.
std::string interval_words(const FleetPlan& plan);
std::string assumption_words(const Portfolio& portfolio);

/// Name and what of it, one a line.
using Lines = std::vector<std::pair<std::string, std::string>>;
/// The best plan, which qualifies.
Lines answer_lines(const Portfolio& portfolio, std::span<const FleetPlan> plans);

}  // namespace headroom::sweep
