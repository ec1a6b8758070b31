// The least speeds at which a model is of use to people who wait for its text.
#pragma once

#include "model/infer/estimate.hpp"

namespace headroom::model {

/// Tokens a second of each request from which a model counts as usable, a choice of this project.
inline constexpr double usable_tokens_s = 1;

/// Tokens a second at which people read English: 238 words a minute (Brysbaert, J. Mem. Lang. 109,
/// 2019) and 4/3 tokens a word (OpenAI's help pages), rounded down.
inline constexpr double reading_tokens_s = 5;

/// True if it runs, but decodes fewer tokens a second for each request than usable_tokens_s.
constexpr bool is_too_slow(const Estimate& e) {
  return fits(e) && e.tokens_s > 0 && e.tpot.value() * usable_tokens_s > 1;
}

}  // namespace headroom::model
