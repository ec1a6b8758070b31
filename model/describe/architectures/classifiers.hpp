// Decoders with a head for another task than language modelling.
#pragma once

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model::families {

/// The head is called "score", of question answering "qa_outputs".
Part scored(const Config& c);
/// The head is called "classifier".
Part classified(const Config& c);
/// The body is called "transformer", whatever its name in the language model.
Part answered(const Config& c);

}  // namespace headroom::model::families
