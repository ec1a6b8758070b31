// Image encoders, alone or before a decoder: ViT (arXiv:2010.11929), DeiT (arXiv:2012.12877) and
// Swin (arXiv:2103.14030). Donut has a copy of Swin with older names.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::vit {

/// The number of patches of an image.
Size grid_of(const Config& c, Size side, Size patch) {
  const auto [height, width] = pair_of(c, "image_size", side);
  const auto [patch_height, patch_width] = pair_of(c, "patch_size", patch);
  return (height / patch_height) * (width / patch_width);
}
Part patch_projection(const Config& c, const std::string& k, Size width, Size patch) {
  const auto [height, across] = pair_of(c, "patch_size", patch);
  return in("patch_embeddings", k + "PatchEmbeddings",
            convolution("projection", "Conv2d", {width, c.dim({"num_channels"}, 3), height, across},
                        Bias::yes));
}

Part four_projections(Size width, Size across, Bias qkv) {
  return linear("q_proj", width, across, qkv) + linear("k_proj", width, across, qkv) +
         linear("v_proj", width, across, qkv) + linear("o_proj", across, width, Bias::yes);
}
Part two_layers(const std::string& k, Size width, Size inner, const std::string& act) {
  return in("mlp", k + "MLP",
            module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                linear("fc2", inner, width, Bias::yes));
}

enum class Pooled : bool { no, yes };

Part vit_body(const Config& c, const std::string& k, Pooled pooled) {
  const Size width = c.dim({"hidden_size"}), heads = c.dim({"num_attention_heads"});
  const std::string act = activation_class(c, {"hidden_act"}, "gelu");
  const bool distilled = k == "DeiT";
  const auto token = [&](std::string_view name) {
    return tensor(name, {1, 1, width}, Role::other);
  };
  const Size positions = grid_of(c, 224, 16) + (distilled ? 2 : 1);
  const Size across = width / heads * heads;
  Part p = in("embeddings", k + "Embeddings",
              token("cls_token") +
                  tensor("position_embeddings", {1, positions, width}, Role::embedding) +
                  (distilled ? token("distillation_token") : Part{}) +
                  patch_projection(c, k, width, 16) + dropout()) +
           stack("layers", k + "Layer", c.dim({"num_hidden_layers"}),
                 [&] {
                   return in("attention", k + "Attention",
                             four_projections(width, across, c.bias({"qkv_bias"}, true))) +
                          layer_norm("layernorm_before", width) +
                          layer_norm("layernorm_after", width) +
                          two_layers(k, width, c.dim({"intermediate_size"}), act) + dropout();
                 }) +
           layer_norm("layernorm", width);
  if (pooled == Pooled::yes)
    p = std::move(p) + in("pooler", k + "Pooler",
                          linear("dense", width, c.dim({"pooler_output_size"}, width), Bias::yes) +
                              module("activation", activation_class(c, {"pooler_act"}, "tanh")));
  return unsplittable(std::move(p), {k + "Embeddings", k + "Layer"});
}

// ---- Swin ---------------------------------------------------------------------------------------

/// The sizes of one resolution.
struct Stage {
  Size width, heads, window, inner;
  std::string act;
  Bias qkv;
};

Part swin_layer(const std::string& k, const Stage& s) {
  const Size offsets = 2 * s.window - 1, area = s.window * s.window;
  return in("attention", k + "Attention",
            four_projections(s.width, s.width, s.qkv) +
                in("relative_position_bias", k + "RelativePositionBias",
                   tensor("relative_position_bias_table", {offsets * offsets, s.heads},
                          Role::other) +
                       buffer("relative_position_index", {area * area}, Element::int64))) +
         layer_norm("layernorm_before", s.width) + layer_norm("layernorm_after", s.width) +
         two_layers(k, s.width, s.inner, s.act) + dropout();
}
Part donut_layer(const std::string& k, const Stage& s, std::string_view dropped) {
  const Size offsets = 2 * s.window - 1, area = s.window * s.window;
  return layer_norm("layernorm_before", s.width) +
         in("attention", k + "Attention",
            in("self", k + "SelfAttention",
               tensor("relative_position_bias_table", {offsets * offsets, s.heads}, Role::other) +
                   buffer("relative_position_index", {area, area}, Element::int64, true) +
                   linear("query", s.width, s.width, s.qkv) +
                   linear("key", s.width, s.width, s.qkv) +
                   linear("value", s.width, s.width, s.qkv) + dropout()) +
                in("output", k + "SelfOutput",
                   linear("dense", s.width, s.width, Bias::yes) + dropout())) +
         module("drop_path", dropped) + layer_norm("layernorm_after", s.width) +
         in("intermediate", k + "Intermediate",
            linear("dense", s.width, s.inner, Bias::yes) + module("intermediate_act_fn", s.act)) +
         in("output", k + "Output", linear("dense", s.inner, s.width, Bias::yes) + dropout());
}

Part swin_body(const Config& c, const std::string& k) {
  const bool donut = k == "DonutSwin";
  const auto depths = c.dims({"depths"}), heads = c.dims({"num_heads"});
  const Size stages = static_cast<Size>(depths.size()), first = c.dim({"embed_dim"}, 96);
  if (stages < 1 || stages > 16 || heads.size() != depths.size())
    c.fail("depths", "expected 1 to 16 entries, and as many in num_heads");
  const Bias qkv = c.bias({"qkv_bias"}, true);
  const Size window = c.dim({"window_size"}, 7);
  const std::string act = activation_class(c, {"hidden_act"}, "gelu");
  const bool drops = c.number({"drop_path_rate"}, 0.1) > 0;
  Size before = 0;  // layers of earlier stages; the first layer of all has no stochastic depth
  Part layers = stack("layers", k + "Stage", stages, [&](Size i) {
    const auto at = static_cast<std::size_t>(i);
    const Size width = first << i;
    const Size inner =
        whole_width(c, "mlp_ratio", c.number({"mlp_ratio"}, 4.0) * static_cast<double>(width));
    if (heads[at] < 1 || width % heads[at] != 0)
      c.fail("num_heads", "expected divisors of the widths of the stages");
    const Stage s{width, heads[at], window, inner, act, qkv};
    Part stage = list("blocks", depths[at], [&](const std::string& name, Size j) {
      const std::string dropped = drops && before + j > 0
                                      ? (donut ? std::string("DonutDropPath") : k + "DropPath")
                                      : "Identity";
      return in(
          name, k + "Layer",
          donut ? donut_layer(k, s, dropped) : swin_layer(k, s) + module("drop_path", dropped));
    });
    before += depths[at];
    if (i + 1 < stages)
      stage = std::move(stage) +
              in("downsample", k + "PatchMerging",
                 linear("reduction", 4 * width, 2 * width) + layer_norm("norm", 4 * width));
    return stage;
  });
  Part embeddings;
  if (c.flag({"use_absolute_embeddings"}, false))
    embeddings = tensor("position_embeddings", {1, grid_of(c, 224, 4) + (donut ? 1 : 0), first},
                        Role::embedding);
  Part p = in("embeddings", k + "Embeddings",
              std::move(embeddings) + patch_projection(c, k, first, 4) + layer_norm("norm", first) +
                  dropout()) +
           in("encoder", k + "Encoder", std::move(layers));
  if (!donut) p = std::move(p) + layer_norm("layernorm", first << (stages - 1));
  return unsplittable(std::move(p), {k + "Stage"});
}

Part classifier(const Config& c, std::string_view name, Size width) {
  return linear(name, width, labels(c), Bias::yes);
}

/// Source: transformers 5.23, models/vit/modeling_vit.py, models/deit/modeling_deit.py.
Part vit(const Config& c) {
  const std::string k = c.class_name().starts_with("DeiT") ? "DeiT" : "ViT";
  if (is_for(c, "Model")) return vit_body(c, k, Pooled::yes);
  const Size width = c.dim({"hidden_size"});
  Part p = in(k == "DeiT" ? "deit" : "vit", k + "Model", vit_body(c, k, Pooled::no));
  if (!is_for(c, "WithTeacher")) return std::move(p) + classifier(c, "classifier", width);
  return std::move(p) + classifier(c, "cls_classifier", width) +
         classifier(c, "distillation_classifier", width);
}

/// Source: transformers 5.23, models/swin/modeling_swin.py, models/donut/modeling_donut_swin.py.
Part swin(const Config& c) {
  const std::string k = c.class_name().starts_with("Donut") ? "DonutSwin" : "Swin";
  Part body = swin_body(c, k) + module("pooler", "AdaptiveAvgPool1d");
  if (is_for(c, "Model")) return body;
  const Size last = c.dim({"embed_dim"}, 96) << (c.dims({"depths"}).size() - 1);
  return in(k == "Swin" ? "swin" : "donut", k + "Model", std::move(body)) +
         classifier(c, "classifier", last);
}

}  // namespace headroom::model::families::vit
