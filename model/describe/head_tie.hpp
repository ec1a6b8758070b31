// Whether the head of a model with a text model inside is tied, where its file does not say so at
// the top level.
//
// Since 5.0 transformers reads `tie_word_embeddings` of the whole config alone, whose absence means
// the whole class's default; before that (4.57, which most published files were written by) the
// text model's config decided. Where the two disagree, 5.23 builds tied modules and unties them as
// soon as the checkpoint has another head, as those of Mistral-Small-3.1 and InternVL3 have. So the
// head here is that of the checkpoint: what `text_config` states; else the text class's default.
// Source: transformers 5.23 modeling_utils.py (tie_weights), 4.57 models/mistral3, models/internvl.
#pragma once

#include <string>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// `part` of the config `file` (defaults not filled in) with its heads untied where the text model
/// leaves them so: `reference_tied_to` keeps what the reference ties them to.
Part with_text_tie(Part part, const Config& file);

/// What was assumed of a tie that neither the file nor its text_config states, and of which the two
/// classes' defaults disagree: "head not tied to the embeddings (…)". Empty: nothing.
std::string assumed_tie(const Config& file);

}  // namespace headroom::model
