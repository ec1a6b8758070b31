// Gemma 4's assistants: a few layers that use the keys and values of the model that they serve, and
// projections between its width and their own.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::gemma4_assistant {

/// The section of the text model. Its layers share all keys and values where it does not say.
Config text_of(const Config& c, std::string_view type) {
  const Config own = c.section_or_empty("text_config");
  const Size layers = with_class_defaults(own, type).dim({"num_hidden_layers"});
  const Config text =
      with_class_defaults(own.with_defaults({{"num_kv_shared_layers", layers}}), type)
          .with_defaults({{"model_type", type}});
  if (const Size shared = text.count({"num_kv_shared_layers"}); shared != layers)
    text.fail("num_kv_shared_layers",
              "found " + std::to_string(shared) + ", expected num_hidden_layers (" +
                  std::to_string(layers) + "): an assistant has no keys of its own");
  return text;
}

/// Source: transformers 5.23, models/gemma4_assistant, models/gemma4_unified_assistant.
Part assistant(const Config& c) {
  const bool unified = c.class_name().starts_with("Gemma4Unified");
  const Config text = text_of(c, unified ? "gemma4_unified_text" : "gemma4_text");
  const Submodel body = text_model(text);
  const Size width = body.width, target = c.dim({"backbone_hidden_size"}, unified ? 3840 : 1536);
  const Size vocab = text.dim({"vocab_size"});
  Part p = body.as("model") + output_head("lm_head", width, vocab) +
           linear("pre_projection", 2 * target, width) + linear("post_projection", width, target);
  if (c.flag({"use_ordered_embeddings"}, false))
    p = std::move(p) + in("masked_embedding", "Gemma4AssistantMaskedEmbedder",
                          linear("centroids", width, c.dim({"num_centroids"}, 2048)) +
                              buffer("token_ordering", {vocab}, Element::int64, true));
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "lm_head.weight", "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::gemma4_assistant
