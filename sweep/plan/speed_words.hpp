// Speeds of a plan's answers for people who wait for text.
#pragma once

#include <string>

#include "sweep/plan/screen.hpp"

namespace headroom::sweep {

/// Words for an answer that serves nobody well: a cluster of machines to run, or text slower than
/// people read. No limit was given that excludes it. Else empty.
std::string unsuitable_words(const PlanScreen& screen, const Candidate& candidate);

/// words_of(), with the speed where the limit is that of a demand which states none.
std::string limit_words(const PlanScreen& screen, const model::Shortfall& missed);

/// ": only 0.846 tokens/s a user" where that is slower than people read; without "only" up to twice
/// as fast; else empty.
std::string user_speed_words(const model::Service& seen);

/// "at least 1 token/s for one sequence, 5 for each of several (--max-tpot)"; empty where the
/// target limits decoding. `option` is the one that would.
std::string least_speed_words(const model::Target& target, std::string_view option = "--max-tpot");

}  // namespace headroom::sweep
