// W2v-BERT 2.0 (arXiv:2312.05187): Conformer layers over spectrogram frames, with learned distances
// between frames. An adapter reduces the number of frames.
#include "model/describe/architectures/conformer.hpp"

namespace headroom::model::families::wav2vec2_bert {

const std::string k = "Wav2Vec2Bert";

Conformer sizes_of(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  Conformer s{.k = k,
              .hidden = hidden,
              .inner = c.dim({"intermediate_size"}),
              .kernel = c.dim({"conv_depthwise_kernel_size"}, 31),
              .act = activation_class(c, {"hidden_act"}, "swish"),
              .conv_norm = layer_norm("depthwise_layer_norm", hidden)};
  if (!c.has("position_embeddings_type")) return s;
  const std::string type = c.text({"position_embeddings_type"});
  if (type != "relative_key")
    c.fail("position_embeddings_type", "found '" + type + "', expected relative_key or null");
  s.last_positions = embedding(
      "distance_embedding",
      c.dim({"left_max_position_embeddings"}, 64) + c.dim({"right_max_position_embeddings"}, 8) + 1,
      hidden / c.dim({"num_attention_heads"}));
  return s;
}

Part adapter(const Config& c, Conformer s, Size out) {
  Part p;
  if (out != s.hidden)
    p = linear("proj", s.hidden, out, Bias::yes) + layer_norm("proj_layer_norm", out);
  s.hidden = out;
  const Part layer = conformer_adapter_layer(s, c.dim({"adapter_kernel_size"}, 3),
                                             activation_class(c, {"adapter_act"}, "relu"));
  return in("adapter", k + "Adapter",
            std::move(p) + list("layers", c.dim({"num_adapter_layers"}, 1),
                                [&](const std::string& name, Size) {
                                  return in(name, k + "AdapterLayer", layer);
                                }));
}

/// Source: transformers 5.23, models/wav2vec2_bert/{configuration,modeling}_wav2vec2_bert.py.
Part wav2vec2_bert(const Config& c) {
  const Conformer s = sizes_of(c);
  const Size frames = c.dim({"feature_projection_input_dim"}, 160);
  const bool adapts = c.flag({"add_adapter"}, false);
  const Size wanted = c.dim_or_none({"output_hidden_size"}, 0);
  const Size out = adapts && wanted > 0 ? wanted : s.hidden;
  Part p;
  if (c.number({"mask_time_prob"}, 0.05) > 0 || c.number({"mask_feature_prob"}, 0) > 0)
    p = tensor("masked_spec_embed", {s.hidden}, Role::other);
  p = std::move(p) +
      in("feature_projection", k + "FeatureProjection",
         layer_norm("layer_norm", frames) + linear("projection", frames, s.hidden, Bias::yes) +
             dropout()) +
      in("encoder", k + "Encoder",
         dropout() + stack("layers", k + "EncoderLayer", c.dim({"num_hidden_layers"}),
                           [&] { return conformer_layer(s); }));
  if (adapts) p = std::move(p) + adapter(c, s, out);
  if (c.flag({"use_intermediate_ffn_before_adapter"}, false))
    p = std::move(p) + conformer_feed_forward(s, "intermediate_ffn", "ReLU");
  p = unsplittable(std::move(p), {k + "EncoderLayer"});
  if (is_for(c, "Model")) return p;
  return in("wav2vec2_bert", k + "Model", std::move(p)) + dropout() +
         output_head("lm_head", out, c.dim({"vocab_size"}), Bias::yes);
}

}  // namespace headroom::model::families::wav2vec2_bert
