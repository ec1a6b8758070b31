// Heads that propose tokens for another model (EAGLE, DFlash and their relatives). They have layers
// of a described text model, and project the target model's hidden states.
//
// Checkpoints leave out what the target model has. The head's own configs are either flat, as those
// of the layers' family, or in the format of vLLM's speculators, with the layers' config in
// transformer_layer_config. Files of that format hold embeddings and head, too.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model::families {

/// The config of a draft head, in any format.
struct DraftHead {
  Config layer;           ///< config of the layers
  std::string type;       ///< model_type of the text model whose layers it has
  bool speculators;       ///< in that format
  Size hidden, target;    ///< widths of the head and of the target model
  Size vocab, own_vocab;  ///< rows of the target's vocabulary, and of the head's share of it
  bool embedding, head;   ///< the checkpoint has its own: has_embed_tokens, has_lm_head
};
/// Checkpoints with a vocabulary that the config does not mention. Files in speculators' format
/// have both.
struct OwnVocabulary {
  bool embedding, head;
};
/// `type` is the family of the layers where the class decides. In speculators' format the section
/// does.
DraftHead draft_head(const Config& c, std::string_view type, OwnVocabulary unsaid);

/// Layers, final norm and rotary tables of the text model, and embeddings where they are its own.
/// Throws ConfigError where the layers have experts.
Part draft_body(const DraftHead& d);

/// Number of the target's hidden states that the head sees. It is the length of the first list of
/// layers in the config, at the top or in `section`. Without a list it is `otherwise`.
Size target_states(const Config& c, std::string_view section, Size otherwise);

/// The head over the draft's vocabulary, where it is its own. If that is smaller than the target's,
/// two tables map them: offsets (d2t), and flags of the rows that the draft has (t2d).
Part draft_vocabulary(const DraftHead& d);

}  // namespace headroom::model::families
