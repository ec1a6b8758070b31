// Hunyuan-VL (HunyuanOCR): a vision transformer with learned positions, and Hunyuan's dense text
// model. Convolutions merge the patches.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::hunyuan_vl {

const std::string k = "HunYuanVL", norm = k + "RMSNorm";

/// The class does not derive head_dim from hidden_size, so the config must state it.
Part text_body(const Config& c) {
  const Common s = common_of(c);
  const Size dim = c.dim({"head_dim"});
  const Heads heads{s.heads.query, s.heads.kv, dim};
  const Bias b = c.bias({"attention_bias"}, false);
  const std::string block = k + "DenseV1DecoderLayer";
  return unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
                          stack("layers", block, s.layers,
                                [&] {
                                  return in("self_attn", k + "DenseV1Attention",
                                            attention(s.hidden, heads, b, b) +
                                                rms_norm("query_layernorm", norm, dim) +
                                                rms_norm("key_layernorm", norm, dim)) +
                                         in("mlp", k + "MLP", gated_mlp(s.hidden, s.inner, s.act)) +
                                         rms_norm("input_layernorm", norm, s.hidden) +
                                         rms_norm("post_attention_layernorm", norm, s.hidden);
                                }) +
                          rms_norm("norm", norm, s.hidden) +
                          rotary(k + "RotaryEmbedding", rotated_if_scaled(c, dim)),
                      {block});
}

Part tower(const Config& v, Size text_width) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 16), merge = v.dim({"spatial_merge_size"}, 2);
  const Size side = v.dim({"max_image_size"}, 2048) / patch;
  const Size heads = v.dim({"num_attention_heads"}), across = width / heads * heads;
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const auto layer = [&] {
    return layer_norm("layer_norm1", width) +
           in("self_attn", k + "VisionAttention",
              linear("q_proj", width, across, Bias::yes) +
                  linear("k_proj", width, across, Bias::yes) +
                  linear("v_proj", width, across, Bias::yes) +
                  linear("o_proj", across, width, Bias::yes)) +
           layer_norm("layer_norm2", width) +
           in("mlp", k + "VisionMLP",
              module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                  linear("fc2", inner, width, Bias::yes));
  };
  return in("embeddings", k + "VisionPatchEmbed",
            convolution("patch_embedding", "Conv2d",
                        {width, v.dim({"num_channels"}, 3), patch, patch}, Bias::yes) +
                embedding("position_embedding", side * side + 1, width)) +
         stack("layers", k + "VisionBlock", v.dim({"num_hidden_layers"}), layer) +
         in("patch_merger", k + "VisionPatchMerger",
            tensor("image_newline", {4 * width}, Role::other) +
                tensor("image_begin", {text_width}, Role::other) +
                tensor("image_end", {text_width}, Role::other) +
                tensor("image_sep", {text_width}, Role::other) +
                convolution("proj_conv", "Conv2d", {2 * width, width, merge, merge}, Bias::yes) +
                module("proj_act", act) +
                convolution("proj_out", "Conv2d", {4 * width, 2 * width, 1, 1}, Bias::yes) +
                linear("mlp", 4 * width, text_width, Bias::yes) +
                rms_norm("before_rms", norm, width) + rms_norm("after_rms", norm, text_width));
}

/// Source: transformers 5.23, models/hunyuan_vl/{configuration,modeling}_hunyuan_vl.py. Older files
/// keep the text model's keys at the top level.
Part hunyuan_vl(const Config& c) {
  const Config text = section_or_self(c, "text_config", "hunyuan_vl_text");
  const Config v = section_of(c, "vision_config", "hunyuan_vl_vision");
  Part body =
      in("model", k + "Model",
         in("language_model", k + "TextModel", text_body(text)) +
             in("vision_tower", k + "VisionTransformer", tower(v, text.dim({"hidden_size"}))));
  return with_language_head(with_unsplittable(std::move(body), {k + "VisionBlock"}), text,
                            head_is_tied(c, text, true, Inherit::yes),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::hunyuan_vl
