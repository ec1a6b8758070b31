// DiffusionGemma: Gemma 4 whose decoder writes blocks of tokens by diffusion. Encoder and decoder
// share all weights but the decoder's self-conditioning, so the layers are described once.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::diffusion_gemma {

/// Source: transformers 5.23, models/diffusion_gemma/modeling_diffusion_gemma.py. All layers are
/// mixtures, and keys are values where attention is full.
Part diffusion_gemma(const Config& c) {
  const std::string k = "DiffusionGemma";
  const Config text = section_of(c, "text_config", "diffusion_gemma_text")
                          .with_defaults({{"enable_moe_block", true},
                                          {"attention_k_eq_v", true},
                                          {"hidden_size_per_layer_input", 0},
                                          {"num_kv_shared_layers", 0}});
  Submodel language = text_model(text, "gemma4_text");
  language.part = renamed(std::move(language.part), "Gemma4", k);
  const Size width = language.width, inner = text.dim({"intermediate_size"});
  Part encoder;
  if (c.has("vision_config")) {
    const Submodel eyes = gemma4_vision(section_of(c, "vision_config", "gemma4_vision"));
    encoder =
        eyes.as("vision_tower") + in("embed_vision", k + "MultimodalEmbedder",
                                     linear("embedding_projection", eyes.width, width) +
                                         module("embedding_pre_projection_norm", k + "RMSNorm"));
  }
  encoder =
      std::move(encoder) + in("language_model", k + "EncoderTextModel", std::move(language.part));
  const Part conditioning =
      rms_norm("pre_norm", k + "RMSNorm", width) + module("post_norm", k + "RMSNorm") +
      gated_mlp(width, inner, activation_class(text, {"hidden_activation"}, "gelu_pytorch_tanh"));
  return with_language_head(
      in("model", k + "Model",
         in("encoder", k + "EncoderModel", std::move(encoder)) +
             in("decoder", k + "DecoderModel",
                in("self_conditioning", k + "SelfConditioning", conditioning))),
      text, head_is_tied(c, text, true, Inherit::no),
      "model.encoder.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::diffusion_gemma
