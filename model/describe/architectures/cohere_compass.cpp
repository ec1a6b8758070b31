// Cohere Compass: Cohere 2's decoder without windows unless layer_types says so, rotary tables by
// kind of layer (none where a kind has no rope_parameters), and Qwen3-VL's tower.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::cohere_compass {

const Classes k{"CohereCompass"};

Part text_body(const Config& c) {
  Common s = common_of(c);
  s.heads.dim = s.hidden / s.heads.query;
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = layer_types(c, s.layers, [](Size) { return "full_attention"; });
  return embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
         stack("layers", k("DecoderLayer"), s.layers,
               [&](Size i) {
                 return in("self_attn", k("Attention"),
                           attention(s.hidden, s.heads, b, b,
                                     window_of(types[static_cast<std::size_t>(i)], window))) +
                        in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act)) +
                        rms_norm("input_layernorm", k("LayerNorm"), s.hidden);
               }) +
         rms_norm("norm", k("LayerNorm"), s.hidden) +
         rotary_by_kind(c, k("RotaryEmbedding"), kinds_of(types), s.heads.dim,
                        [](const std::string&) { return 1.0; });
}

Part whole(Part part) {
  return with_unsplittable(std::move(part), {k("DecoderLayer"), k("VisionBlock")});
}

/// Source: transformers 5.23, models/cohere_compass/{configuration,modeling}_cohere_compass.py.
Part cohere_compass_text(const Config& c) {
  return whole(causal_lm(c, k("TextModel"), text_body(c), Tied::yes));
}

Part cohere_compass(const Config& c) {
  const Config text = section_of(c, "text_config", "cohere_compass_text");
  const Submodel vision = qwen3_vision(section_of(c, "vision_config", "cohere_compass_vision"),
                                       "CohereCompass", EarlierOutputs::merged);
  return whole(with_language_head(
      in("model", k("Model"),
         vision.as("visual") + in("language_model", k("TextModel"), text_body(text))),
      text, head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight"));
}

}  // namespace headroom::model::families::cohere_compass
