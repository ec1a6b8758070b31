// The types of weights and products in a training step, by --precision and --recipe.
#pragma once

#include "sweep/options/training_options.hpp"

namespace headroom::sweep {

/// The format of 8 and 4 bit that --precision names; null: another precision.
const model::MatrixFormat* matrices_of(const Options& options);

/// The scheme of bitsandbytes in which weights beneath adapters are frozen; empty: 16 bit. Throws
/// UsageError for another.
std::string base_precision(const Options& options);

/// The recipe that is asked for, or the runtime's for --precision and what is shared out.
/// `as_stored`: a file asks for no type, so weights have the checkpoint's. Throws UsageError.
const model::Recipe& recipe_of(const Options& options, const model::TrainingScenario& scenario,
                               GivenTraining& given, bool as_stored);

/// The type of 16-bit products: fp16 on a card without units for bf16, unless --precision says
/// otherwise.
void read_type(const Options& options, GivenTraining& given);

}  // namespace headroom::sweep
