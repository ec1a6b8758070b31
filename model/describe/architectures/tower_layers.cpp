#include "model/describe/architectures/tower_layers.hpp"

#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

TowerSizes tower_sizes(const Config& c, std::string_view act) {
  const auto [height, width] = pair_of(c, "patch_size", 16);
  if (height != width) c.fail("patch_size", "found two sizes, expected equal ones");
  return {.hidden = c.dim({"hidden_size"}),
          .inner = c.dim({"intermediate_size"}),
          .heads = c.dim({"num_attention_heads"}),
          .layers = c.dim({"num_hidden_layers"}),
          .channels = c.count({"num_channels"}, 3),
          .patch = height,
          .act = activation_class(c, {"hidden_act"}, act)};
}

Part tower_attention(std::string_view class_name, Size hidden) {
  return in("self_attn", class_name,
            linear("k_proj", hidden, hidden, Bias::yes) +
                linear("v_proj", hidden, hidden, Bias::yes) +
                linear("q_proj", hidden, hidden, Bias::yes) +
                linear("out_proj", hidden, hidden, Bias::yes));
}

Part tower_mlp(std::string_view name, std::string_view class_name, const TowerSizes& s) {
  return in(name, class_name,
            module("activation_fn", s.act) + linear("fc1", s.hidden, s.inner, Bias::yes) +
                linear("fc2", s.inner, s.hidden, Bias::yes));
}

Part tower_encoder(std::string_view prefix, const TowerSizes& s, First first) {
  return in("encoder", join(prefix, "Encoder"),
            stack("layers", join(prefix, "EncoderLayer"), s.layers, [&] {
              const Part attention = tower_attention(join(prefix, "Attention"), s.hidden);
              const Part norm = layer_norm("layer_norm1", s.hidden);
              const Part mlp = tower_mlp("mlp", join(prefix, "MLP"), s);
              const Part last = layer_norm("layer_norm2", s.hidden);
              return first == First::attention ? attention + norm + mlp + last
                                               : norm + attention + last + mlp;
            }));
}

Part pooling_head(std::string_view prefix, const TowerSizes& s) {
  return in("head", join(prefix, "MultiheadAttentionPoolingHead"),
            tensor("probe", {1, 1, s.hidden}, Role::other) +
                in("attention", "MultiheadAttention",
                   tensor("in_proj_weight", {3 * s.hidden, s.hidden}, Role::matmul) +
                       tensor("in_proj_bias", {3 * s.hidden}, Role::bias) +
                       in("out_proj", "NonDynamicallyQuantizableLinear",
                          tensor("weight", {s.hidden, s.hidden}, Role::matmul) +
                              tensor("bias", {s.hidden}, Role::bias))) +
                layer_norm("layernorm", s.hidden) + tower_mlp("mlp", join(prefix, "MLP"), s));
}

namespace {

Part timm_mlp(Size width, Size inner) {
  return in("mlp", "Mlp",
            linear("fc1", width, inner, Bias::yes) + module("act", "GELUActivation") +
                linear("fc2", inner, width, Bias::yes));
}

}  // namespace

Part timm_layer(Size width, Size inner, std::string_view scale) {
  const auto length = [&](std::string_view name) {
    return scale.empty() ? Part{} : in(name, "LayerScale", tensor(scale, {width}, Role::other));
  };
  return layer_norm("norm1", width) +
         in("attn", "Attention",
            linear("qkv", width, 3 * width, Bias::yes) + linear("proj", width, width, Bias::yes)) +
         length("ls1") + layer_norm("norm2", width) + timm_mlp(width, inner) + length("ls2");
}

Part timm_pooling(Size width, Size inner) {
  return in("attn_pool", "AttentionPoolLatent",
            tensor("latent", {1, 1, width}, Role::other) + linear("q", width, width, Bias::yes) +
                linear("kv", width, 2 * width, Bias::yes) +
                linear("proj", width, width, Bias::yes) + layer_norm("norm", width) +
                timm_mlp(width, inner));
}

Part clip_vision_body(const Config& c, std::string_view embeddings, std::string_view prefix) {
  const TowerSizes s = tower_sizes(c, "quick_gelu");
  const Size positions = patches(c) + 1;
  return in("embeddings", embeddings,
            tensor("class_embedding", {s.hidden}, Role::other) +
                convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch}) +
                embedding("position_embedding", positions, s.hidden) + position_ids(positions)) +
         layer_norm("pre_layrnorm", s.hidden) + tower_encoder(prefix, s, First::attention) +
         layer_norm("post_layernorm", s.hidden);
}

}  // namespace headroom::model::families
