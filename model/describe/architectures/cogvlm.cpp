// CogVLM (arXiv:2311.03079): each layer has matrices for tokens of text and others for tokens of
// images.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::cogvlm {

/// The tower, its projector, and embeddings before and after an image.
Part vision(const Config& v, Size hidden, Size inner) {
  const Size width = v.dim({"hidden_size"}), wide = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"});
  const auto layer = [&] {
    return layer_norm("input_layernorm", width) +
           in("attention", "Attention",
              linear("query_key_value", width, 3 * width, Bias::yes) +
                  linear("dense", width, width, Bias::yes) + dropout("output_dropout")) +
           in("mlp", "MLP",
              module("activation_fn", activation_class(v, {"hidden_act"}, "gelu")) +
                  linear("fc1", width, wide, Bias::yes) + linear("fc2", wide, width, Bias::yes)) +
           layer_norm("post_attention_layernorm", width);
  };
  return in("patch_embedding", "PatchEmbedding",
            tensor("cls_embedding", {1, width}, Role::other) +
                convolution("proj", "Conv2d", {width, v.dim({"in_channels"}, 3), patch, patch},
                            Bias::yes) +
                embedding("position_embedding", v.dim({"num_positions"}), width)) +
         in("transformer", "Transformer",
            stack("layers", "TransformerLayer", v.dim({"num_hidden_layers"}), layer)) +
         in("linear_proj", "GLU",
            linear("linear_proj", width, hidden) + layer_norm("norm1", hidden) +
                linear("dense_h_to_4h", hidden, inner) + linear("gate_proj", hidden, inner) +
                linear("dense_4h_to_h", inner, hidden)) +
         tensor("boi", {1, 1, hidden}, Role::other) + tensor("eoi", {1, 1, hidden}, Role::other);
}

/// Sources: modeling_cogvlm.py and visual.py of THUDM/cogvlm-chat-hf; llama.cpp
/// src/models/cogvlm.cpp and gguf-py/gguf/tensor_mapping.py. CogVLM2 shares keys among heads and
/// has a convolution more.
Part cogvlm(const Config& c) {
  const Classes k{"CogVLM"};
  const Common s = common_of(c);
  if (c.has("num_multi_query_heads"))
    throw NotDescribed(c.origin() +
                       ": key 'num_multi_query_heads': heads that share keys are not described");
  const Size vocab = c.dim({"vocab_size"}), width = s.heads.query * s.heads.dim;
  Part attention;
  for (const std::string kind : {"vision_expert", "language_expert"})
    attention = std::move(attention) + linear(kind + "_query_key_value", s.hidden, 3 * width) +
                linear(kind + "_dense", width, s.hidden);
  attention.caches = {kv_cache({s.heads.query, s.heads.query, s.heads.dim})};
  const Part mlp = gated_mlp(s.hidden, s.inner, s.act);
  const Part layer =
      in("self_attn", "VisionExpertAttention", std::move(attention)) +
      in("mlp", "VisionExpertMLP", in("language_mlp", "MLP", mlp) + in("vision_mlp", "MLP", mlp)) +
      rms_norm("input_layernorm", "RMSNorm", s.hidden) +
      rms_norm("post_attention_layernorm", "RMSNorm", s.hidden);
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, s.hidden) +
             stack("layers", k("DecoderLayer"), s.layers, [&] { return layer; }) +
             rms_norm("norm", "RMSNorm", s.hidden) +
             in("vision", "EVA2CLIPModel", vision(c.section("vision_config"), s.hidden, s.inner))) +
          lm_head("model.embed_tokens.weight", vocab, s.hidden,
                  c.flag({"tie_word_embeddings"}, false)),
      {k("DecoderLayer"), "TransformerLayer"});
}

}  // namespace headroom::model::families::cogvlm
