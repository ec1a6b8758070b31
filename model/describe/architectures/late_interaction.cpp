// Late-interaction models (ColPali, arXiv:2407.01449): a vision-language model without its head,
// and a projection. They compare an output vector for each token with those of a query.
// ModernVBERT, the encoder of some of them, is also here.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::late_interaction {

/// Below ModernVBertModel: a tower, pixels shuffled into channels, and ModernBERT.
Part modernvbert_model(const Config& c) {
  const Config text = section_of(c, "text_config", "modernbert");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Size factor = c.dim({"pixel_shuffle_factor"}, 4);
  return vision.as("vision_model") +
         in("connector", "ModernVBertConnector",
            linear("modality_projection", times({vision.width, factor, factor}),
                   text.dim({"hidden_size"}))) +
         in("text_model", "ModernBertModel",
            modernbert::modernbert(text.as_class("ModernBertModel")));
}

/// Source: transformers 5.23, models/modernvbert.
Part modernvbert(const Config& c) {
  if (is_for(c, "ModernVBertModel")) return modernvbert_model(c);
  const Config text = section_of(c, "text_config", "modernbert");
  const Size hidden = text.dim({"hidden_size"});
  Part p =
      in("model", "ModernVBertModel", modernvbert_model(c)) +
      in("projection_head", "ModernVBertPredictionHead",
         linear("dense", hidden, hidden, text.bias({"classifier_bias"}, false)) +
             module("act", activation_class(text, {"classifier_activation"}, "gelu")) +
             layer_norm("norm", hidden, text.bias({"norm_bias"}, false))) +
      output_head("lm_head", hidden, text.dim({"vocab_size"}), text.bias({"decoder_bias"}, true));
  if (!c.flag({"tie_word_embeddings"}, false)) return p;
  return tied(std::move(p), "lm_head.weight", "model.text_model.embeddings.tok_embeddings.weight");
}

/// Source: transformers 5.23, models/colpali, models/colqwen2, models/colmodernvbert.
Part late_interaction(const Config& c) {
  const bool encoder = is_for(c, "ColModernVBertForRetrieval");
  const std::string_view type = encoder                             ? "modernvbert"
                                : is_for(c, "ColQwen2ForRetrieval") ? "qwen2_vl"
                                                                    : "paligemma";
  const Config whole = section_of(c, "vlm_config", type);
  const Config text = section_or_self(whole, "text_config",
                                      encoder               ? "modernbert"
                                      : type == "paligemma" ? "gemma"
                                                            : "qwen2_vl_text");
  const Submodel body = encoder ? Submodel{"ModernVBertModel", modernvbert_model(whole), 0}
                                : body_of(whole_model(whole, "whole"), "whole.model");
  return body.as("vlm") + linear("embedding_proj_layer", text.dim({"hidden_size"}),
                                 c.dim({"embedding_dim"}, 128), Bias::yes);
}

/// The encoder is UltraBERT, and the connector has a norm. The projection of the vectors is in a
/// folder of its own. Source: vLLM 0.33 colultravbert.py and its config class.
Part ultravbert(const Config& c) {
  const Config text =
      c.section("text_config");  // its class's defaults differ: all sizes are needed
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Size factor = c.dim({"pixel_shuffle_factor"}, 4), hidden = text.dim({"hidden_size"});
  Part connector = linear("modality_projection", times({vision.width, factor, factor}), hidden);
  if (c.flag({"connector_norm"}, true))
    connector = std::move(connector) + rms_norm("norm", "UltraBertRMSNorm", hidden);
  return vision.as("vision_model") + in("connector", "ColUltraVBertConnector", connector) +
         in("text_model", "UltraBertModel", esmc::ultrabert(text.as_class("UltrabertModel")));
}

}  // namespace headroom::model::families::late_interaction
