// VideoLLaMA 3 (arXiv:2501.13106): a SigLIP tower with rotary positions and a two-layer projector.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::video_llama3 {

/// Source: transformers 5.23, models/video_llama_3/modeling_video_llama_3.py.
Part video_llama3(const Config& c) {
  const std::string k = "VideoLlama3";
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = section_of(c, "vision_config", "video_llama_3_vision");
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const Submodel language = text_model(text);
  const Part tower =
      frequencies("rotary_pos_emb", k + "VisionRotaryEmbedding", s.hidden / s.heads / 4) +
      in("embeddings", k + "VisionEmbeddings",
         convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch},
                     Bias::yes)) +
      tower_encoder(k + "Vision", s, First::norm) + layer_norm("post_layernorm", s.hidden);
  Part body = in("model", k + "Model",
                 in("vision_model", k + "VisionModel", tower) +
                     in("projector", k + "Projector",
                        in("readout", "Sequential",
                           linear("0", s.hidden, language.width, Bias::yes) + module("1", "GELU") +
                               linear("2", language.width, language.width, Bias::yes))) +
                     language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {k + "VisionEncoderLayer"}), text,
                            head_is_tied(c, text, false, Inherit::yes),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::video_llama3
