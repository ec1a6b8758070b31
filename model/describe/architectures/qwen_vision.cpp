// Qwen's vision transformers. Patches cover two frames. Rotary positions have two directions. 2 x 2
// patches are merged into the width of the text model.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

namespace {

/// The projection of patches of `temporal_patch_size` frames.
Part patch_embed(const Config& v, std::string_view class_name, Size width, Bias bias) {
  const Size patch = v.dim({"patch_size"});
  return in("patch_embed", class_name,
            convolution(
                "proj", "Conv3d",
                {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch, patch},
                bias));
}

Part fused_attention(std::string_view class_name, Size width) {
  return in("attn", class_name,
            linear("qkv", width, 3 * width, Bias::yes) + linear("proj", width, width, Bias::yes));
}

/// Each of the two directions rotates half of every head.
Size frequency_count(const Config& v, Size width) { return width / v.dim({"num_heads"}) / 4; }

Size merged(const Config& v, Size width) {
  const Size side = v.dim({"spatial_merge_size"}, 2);
  return times({width, side, side});
}

/// The merger of the second generation: a norm, then a two-layer network in a Sequential.
Part merger2(std::string_view class_name, Part norm, Size wide, Size out) {
  return in("merger", class_name,
            std::move(norm) + in("mlp", "Sequential",
                                 linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                     linear("2", wide, out, Bias::yes)));
}

}  // namespace

/// Source: transformers 5.23, models/qwen2_vl/modeling_qwen2_vl.py.
Submodel qwen2_vision(const Config& v) {
  const Size width = v.dim({"embed_dim"}), inner = width * v.dim({"mlp_ratio"});
  const std::string act = activation_class(v, {"hidden_act"}, "quick_gelu");
  Part p =
      patch_embed(v, "PatchEmbed", width, Bias::no) +
      frequencies("rotary_pos_emb", "Qwen2VLVisionRotaryEmbedding", frequency_count(v, width)) +
      with_quirks(stack("blocks", "Qwen2VLVisionBlock", v.dim({"depth"}),
                        [&] {
                          return layer_norm("norm1", width) + layer_norm("norm2", width) +
                                 fused_attention("VisionAttention", width) +
                                 in("mlp", "VisionMlp",
                                    linear("fc1", width, inner, Bias::yes) + module("act", act) +
                                        linear("fc2", inner, width, Bias::yes));
                        }),
                  {.attention = {.rotation = Rotation::widened}}) +
      merger2("PatchMerger", layer_norm("ln_q", width), merged(v, width), v.dim({"hidden_size"}));
  return {"Qwen2VisionTransformerPretrainedModel",
          unsplittable(std::move(p), {"Qwen2VLVisionBlock"}), v.dim({"hidden_size"})};
}

namespace {

/// Class names in the copies of Qwen2.5-VL's tower.
struct Copy {
  std::string_view model_type;
  std::string prefix, tower, patches;
};
Copy copy_of(const Config& v) {
  const Copy copies[] = {
      {"exaone4_5_vision", "Exaone4_5_", "Exaone4_5_VisionModel", "Exaone4_5_PatchEmbed"},
      {"qwen2_5_omni_vision_encoder", "Qwen2_5Omni", "Qwen2_5OmniVisionEncoder",
       "Qwen2_5_VisionPatchEmbed"}};
  for (const auto& copy : copies)
    if (copy.model_type == v.model_type()) return copy;
  return {"qwen2_5_vl_vision", "Qwen2_5_VL", "Qwen2_5_VisionTransformerPretrainedModel",
          "Qwen2_5_VisionPatchEmbed"};
}

/// EXAONE 4.5 has fewer KV heads and registers its output projection first. Qwen2.5-Omni has
/// separate q, k and v projections.
Part projections(const Config& v, const Copy& copy, Size width) {
  const Part out = linear("proj", width, width, Bias::yes);
  if (copy.prefix == "Qwen2_5Omni")
    return linear("q", width, width, Bias::yes) + linear("k", width, width, Bias::yes) +
           linear("v", width, width, Bias::yes) + out;
  if (copy.prefix != "Exaone4_5_") return linear("qkv", width, 3 * width, Bias::yes) + out;
  const Size heads = v.dim({"num_heads"}), kv = v.dim({"num_key_value_heads"}, 8);
  return out + linear("qkv", width, (heads + 2 * kv) * (width / heads), Bias::yes);
}

}  // namespace

namespace {

/// Queries and keys are rotated in fp32 and converted back. Source: transformers 5.23,
/// models/qwen2_5_vl/modeling_qwen2_5_vl.py, apply_rotary_pos_emb_vision, and its copies.
constexpr LayerQuirks rotated_in_fp32{.attention = {.rotation = Rotation::widened}};

}  // namespace

/// Source: transformers 5.23, models/qwen2_5_vl/modeling_qwen2_5_vl.py, models/exaone4_5,
/// models/qwen2_5_omni.
Submodel qwen2_5_vision(const Config& v) {
  const Copy copy = copy_of(v);
  const std::string& f = copy.prefix;
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size out = v.dim({"out_hidden_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const std::string norm = f + "RMSNorm";
  Part p =
      patch_embed(v, copy.patches, width, Bias::no) +
      frequencies("rotary_pos_emb", f + "VisionRotaryEmbedding", frequency_count(v, width)) +
      with_quirks(stack("blocks", f + "VisionBlock", v.dim({"depth"}),
                        [&] {
                          return rms_norm("norm1", norm, width) + rms_norm("norm2", norm, width) +
                                 in("attn", f + "VisionAttention", projections(v, copy, width)) +
                                 in("mlp", f + "MLP", gated_mlp(width, inner, act, Bias::yes));
                        }),
                  rotated_in_fp32) +
      merger2(f + "PatchMerger", rms_norm("ln_q", norm, width), merged(v, width), out);
  return {copy.tower, unsplittable(std::move(p), {f + "VisionBlock"}), out};
}

/// This tower has learned positions. In Qwen3-VL it also has mergers for outputs of earlier layers.
/// Source: transformers 5.23, models/qwen3_vl, models/qwen3_vl_moe, models/qwen3_5 and
/// models/qwen3_5_moe.
Submodel qwen3_vision(const Config& v, const std::string& name, EarlierOutputs earlier) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size wide = merged(v, width), out = v.dim({"out_hidden_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  const auto merger = [&](Size normed) {
    return layer_norm("norm", normed) + linear("linear_fc1", wide, wide, Bias::yes) +
           module("act_fn", "GELU") + linear("linear_fc2", wide, out, Bias::yes);
  };
  Part p =
      patch_embed(v, name + "VisionPatchEmbed", width, Bias::yes) +
      embedding("pos_embed", v.dim({"num_position_embeddings"}), width) +
      frequencies("rotary_pos_emb", name + "VisionRotaryEmbedding", frequency_count(v, width)) +
      with_quirks(stack("blocks", name + "VisionBlock", v.dim({"depth"}),
                        [&] {
                          return layer_norm("norm1", width) + layer_norm("norm2", width) +
                                 fused_attention(name + "VisionAttention", width) +
                                 in("mlp", name + "VisionMLP",
                                    linear("linear_fc1", width, inner, Bias::yes) +
                                        linear("linear_fc2", inner, width, Bias::yes) +
                                        module("act_fn", act));
                        }),
                  rotated_in_fp32) +
      in("merger", name + "VisionPatchMerger", merger(width));
  // Published configs of the other models also have the key, but its list is empty.
  const auto deep = static_cast<Size>(v.dims({"deepstack_visual_indexes"}).size());
  if (earlier == EarlierOutputs::merged) {
    Part list;
    for (Size i = 0; i < deep; ++i)
      list = std::move(list) + in(std::to_string(i), name + "VisionPatchMerger", merger(wide));
    p = std::move(p) + in("deepstack_merger_list", "ModuleList", std::move(list));
  }
  return {name + "VisionModel", unsplittable(std::move(p), {name + "VisionBlock"}), out};
}

}  // namespace headroom::model::families
