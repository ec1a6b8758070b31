// The confidence of a verdict in words.
#pragma once

#include <string_view>

#include "model/infer/scenario/verdict.hpp"

namespace headroom::sweep {

/// "sure", or "marginal" if the interval reaches over the limit. A sure verdict may be negative.
constexpr std::string_view confidence_words(model::Confidence confidence) {
  return confidence == model::Confidence::marginal ? "marginal" : "sure";
}

}  // namespace headroom::sweep
