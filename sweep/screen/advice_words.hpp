// Advice of the model library in words, with the flags of this program.
#pragma once

#include <span>
#include <string>

#include "model/answer/advice.hpp"
#include "model/answer/training_advice.hpp"

namespace headroom::sweep {

/// One change. "int8: 141.1 -> 72.7 GiB, fits on 2 GPUs with 38.0 GiB, 31.2 ms a token".
std::string advice_words(const model::Advice& advice);
/// Alternatives, joined by "; or ".
std::string advice_words(std::span<const model::Advice> advice);

/// The flags that make a change of a training step: "--dp 4 --zero 3".
std::string change_flags(const model::Change& change);
/// Its effect on training: "weights are exchanged between cards".
std::string change_effect(const model::Change& change);

}  // namespace headroom::sweep
