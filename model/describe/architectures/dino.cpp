// Vision encoders trained without labels: DINOv2 (arXiv:2304.07193), DINOv2 with registers
// (arXiv:2309.16588) and DINOv3 (arXiv:2508.10104).
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::dino {

/// Attention and feed-forward, each with a learned scale for every dimension.
Part scaled_layer(const Config& c, const std::string& k, Part attention, Part mlp) {
  const Size hidden = c.dim({"hidden_size"});
  const auto scale = [&](std::string_view name) {
    return in(name, k + "LayerScale", tensor("lambda1", {hidden}, Role::other));
  };
  const bool drops = c.number({"drop_path_rate"}, 0) > 0;
  return layer_norm("norm1", hidden) + in("attention", k + "Attention", std::move(attention)) +
         scale("layer_scale1") + module("drop_path", drops ? k + "DropPath" : "Identity") +
         layer_norm("norm2", hidden) + std::move(mlp) + scale("layer_scale2");
}

Part gated(std::string_view class_name, Size hidden, Size inner, const std::string& act,
           Bias bias) {
  return in("mlp", class_name, gated_mlp(hidden, inner, act, bias));
}

Part second_mlp(const Config& c, const std::string& k) {
  const Size hidden = c.dim({"hidden_size"});
  const auto inner =
      whole_width(c, "mlp_ratio", c.number({"mlp_ratio"}, 4) * static_cast<double>(hidden));
  if (c.flag({"use_swiglu_ffn"}, false))
    return gated(k + "SwiGLUFFN", hidden, (inner * 2 / 3 + 7) / 8 * 8, "SiLUActivation", Bias::yes);
  return in("mlp", k + "MLP",
            module("activation_fn", activation_class(c, {"hidden_act"}, "gelu")) +
                linear("fc1", hidden, inner, Bias::yes) + linear("fc2", inner, hidden, Bias::yes));
}

/// Source: transformers 5.23, models/dinov2, models/dinov2_with_registers.
Part dinov2(const Config& c) {
  const bool registers = c.class_name().starts_with("Dinov2WithRegisters");
  const std::string k = registers ? "Dinov2WithRegisters" : "Dinov2";
  const Size hidden = c.dim({"hidden_size"}), channels = c.dim({"num_channels"}, 3);
  const auto [high, wide] = pair_of(c, "patch_size", registers ? 16 : 14);
  const Bias bias = c.bias({"qkv_bias"}, true);
  Part learned = tensor("cls_token", {1, 1, hidden}, Role::other);
  if (registers || c.flag({"use_mask_token"}, true))
    learned = std::move(learned) + tensor("mask_token", {1, hidden}, Role::other);
  learned = std::move(learned) +
            tensor("position_embeddings", {1, patches(c) + 1, hidden}, Role::embedding);
  if (registers)
    learned =
        std::move(learned) +
        tensor("register_tokens", {1, c.count({"num_register_tokens"}, 4), hidden}, Role::other);
  const auto layer = [&] {
    return scaled_layer(
        c, k,
        linear("q_proj", hidden, hidden, bias) + linear("k_proj", hidden, hidden, bias) +
            linear("v_proj", hidden, hidden, bias) + linear("o_proj", hidden, hidden, Bias::yes),
        second_mlp(c, k));
  };
  Part body = unsplittable(
      in("embeddings", k + "Embeddings",
         std::move(learned) +
             in("patch_embeddings", k + "PatchEmbeddings",
                convolution("projection", "Conv2d", {hidden, channels, high, wide}, Bias::yes)) +
             dropout()) +
          in("encoder", k + "Encoder",
             stack("layer", k + "Layer", c.dim({"num_hidden_layers"}), layer)) +
          layer_norm("layernorm", hidden),
      {k + "Embeddings", k + "Layer"});
  if (is_for(c, "Model")) return body;
  const Size kinds = labels(c);
  return in(registers ? "dinov2_with_registers" : "dinov2", k + "Model", std::move(body)) +
         linear("classifier", 2 * hidden, kinds, Bias::yes);
}

/// Source: transformers 5.23, models/dinov3_vit.
Part dinov3(const Config& c) {
  const std::string k = "DINOv3ViT";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size dim = hidden / c.dim({"num_attention_heads"});
  const auto [high, wide] = pair_of(c, "patch_size", 16);
  const std::string act = activation_class(c, {"hidden_act"}, "gelu");
  const Bias bias = c.bias({"mlp_bias"}, true);
  const Part mlp = c.flag({"use_gated_mlp"}, false)
                       ? gated(k + "GatedMLP", hidden, inner, act, bias)
                       : in("mlp", k + "MLP",
                            linear("up_proj", hidden, inner, bias) +
                                linear("down_proj", inner, hidden, bias) + module("act_fn", act));
  const auto layer = [&] {
    return scaled_layer(c, k,
                        linear("k_proj", hidden, hidden, c.bias({"key_bias"}, false)) +
                            linear("v_proj", hidden, hidden, c.bias({"value_bias"}, true)) +
                            linear("q_proj", hidden, hidden, c.bias({"query_bias"}, true)) +
                            linear("o_proj", hidden, hidden, c.bias({"proj_bias"}, true)),
                        mlp);
  };
  return unsplittable(
      in("embeddings", k + "Embeddings",
         tensor("cls_token", {1, 1, hidden}, Role::other) +
             tensor("mask_token", {1, 1, hidden}, Role::other) +
             tensor("register_tokens", {1, c.count({"num_register_tokens"}, 0), hidden},
                    Role::other) +
             convolution("patch_embeddings", "Conv2d",
                         {hidden, c.dim({"num_channels"}, 3), high, wide}, Bias::yes)) +
          in("rope_embeddings", k + "RopePositionEmbedding", buffer("inv_freq", {dim / 4})) +
          in("model", k + "Encoder",
             stack("layer", k + "Layer", c.dim({"num_hidden_layers"}), layer)) +
          layer_norm("norm", hidden),
      {k + "Embeddings", k + "Layer"});
}

}  // namespace headroom::model::families::dino
