// The candidates of a plan side by side.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sweep/plan/screen.hpp"

namespace headroom::sweep {

/// "2.29 USD an hour"; empty without prices.
std::string cost_words(const PlanScreen& screen, const Candidate& candidate);
std::string cost_words(const Prices& prices, const Candidate& candidate);

/// "bought", "second-hand" or "rented".
constexpr std::string_view acquisition_words(model::Acquisition way) {
  constexpr std::string_view all[] = {"bought", "second-hand", "rented"};
  return all[static_cast<std::size_t>(way)];
}

/// Output tokens a second as the question's answer has them. For a context they are those of
/// decoding behind a prompt that fills it. Else they are of whole requests, prompts included.
std::string rate_words(const Candidate& candidate, std::string_view unit);

/// As rate_words() at the demand.
std::string demand_rate_words(const Candidate& candidate, std::string_view unit);

/// True if the time to first token, or of each further one, may exceed the target at the high end
/// of its interval.
bool may_be_late(const Candidate& candidate, const model::Target& target);

/// A paragraph where answers differ in the precision of one model's weights. It also says where the
/// cards of the first have no units for its precision. Else empty.
std::string weights_words(const PlanScreen& screen);

/// A paragraph for a way whose weights leave the cards, which was not allowed. It is the one that
/// `estimate` takes where precisions are compared, or any where nothing qualifies. Else empty.
std::string offloaded_words(const PlanScreen& screen);

/// "20.6 of 30.4 GiB on each of a copy's 2 GPUs", or of each kind of a copy's cards.
std::string memory_words(const Candidate& candidate);

/// At most `most` rows of at most 100 columns: the columns in which candidates differ, and of the
/// others as many as there is room for.
std::string plan_comparison(const PlanScreen& screen, std::size_t most);

}  // namespace headroom::sweep
