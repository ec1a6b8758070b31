// Decides if the output head is tied when the top level of a config with a text_config does not
// say.
//
// transformers 5 reads `tie_word_embeddings` of the whole config only, and falls back to the
// default of the whole class. Version 4.57, which wrote most published files, read the text config.
// If the two disagree, 5.23 builds tied modules. It unties them when the checkpoint has another
// head, as those of Mistral-Small-3.1 and InternVL3 do. This file follows the checkpoint:
// `text_config` decides, then the default of the text class. Source: transformers 5.23
// modeling_utils.py (tie_weights), 4.57 models/mistral3, models/internvl.
#pragma once

#include <string>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// `part` with its heads untied where the text model of `file` leaves them untied. `file` has no
/// defaults filled in. `reference_tied_to` keeps the owner that the reference ties them to.
Part with_text_tie(Part part, const Config& file);

/// The assumption, for messages: "head not tied to the embeddings (…)". Empty where the file or its
/// text_config states the tie, or where the defaults of both classes agree.
std::string assumed_tie(const Config& file);

}  // namespace headroom::model
