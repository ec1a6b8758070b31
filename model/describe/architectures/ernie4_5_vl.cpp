// ERNIE 4.5 VL (ERNIE 4.5 technical report, section 2). Every sparse layer has separate experts for
// text and vision. A resampler works over space and time.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::ernie4_5_vl {

constexpr Classes k{"Ernie4_5_VLMoe"};

/// Each token is text or vision. The router sends it to the experts of its kind.
Part language(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4});
  const Bias bias = c.bias({"use_bias"}, false);
  const Routing r = routing_of(c, {"moe_num_experts"}, {"moe_k"});
  auto widths = c.dims({"moe_intermediate_size"});
  if (widths.empty()) widths = {1536, 512};
  if (widths.size() != 2)
    c.fail("moe_intermediate_size", "expected one width for text, one for vision");
  const auto experts = [&](std::string_view name, Size inner, Routing routing) {
    return in(
        name, k("SparseMoeBlock"),
        in("gate", k("MoeTopKRouter"),
           tensor("weight", {r.experts, s.hidden}, Role::matmul) +
               in("moe_statics", k("MoeStatics"), score_correction_parameter({1, r.experts}))) +
            fused_experts(k("MoeExperts"), s.hidden, inner, routing, s.act));
  };
  Part mixture = experts("text_moe", widths[0], r) + experts("vision_moe", widths[1], r);
  if (const Size shared = c.count({"moe_num_shared_experts"}, 2); shared > 0)
    mixture = std::move(mixture) +
              in("shared_experts", k("MLP"), gated_mlp(s.hidden, widths[0] * shared, s.act, bias));
  return trunk(c,
               Trunk{std::string(k.family), rms_norm("norm", k("RMSNorm"), s.hidden),
                     rotary(k("TextRotaryEmbedding"), s.heads.dim)},
               [&](Size i) {
                 return in("self_attn", k("TextAttention"),
                           attention(s.hidden, s.heads, bias, bias)) +
                        (is_sparse(c, i, 1)
                             ? in("mlp", k("MoeBlock"), mixture)
                             : in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act, bias))) +
                        rms_norm("input_layernorm", k("RMSNorm"), s.hidden) +
                        rms_norm("post_attention_layernorm", k("RMSNorm"), s.hidden);
               });
}

Part tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"}, 4 * width);
  const Size patch = v.dim({"patch_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "quick_gelu");
  return in("patch_embed", k("PatchEmbed"),
            linear("proj", times({v.dim({"in_channels"}, 3), patch, patch}), width)) +
         frequencies("rotary_pos_emb", k("VisionRotaryEmbedding"),
                     width / v.dim({"num_heads"}) / 4) +
         stack("blocks", k("VisionBlock"), v.dim({"depth"}),
               [&] {
                 return layer_norm("norm1", width) + layer_norm("norm2", width) +
                        in("attn", k("VisionAttention"),
                           linear("qkv", width, 3 * width, Bias::yes) +
                               linear("proj", width, width, Bias::yes)) +
                        in("mlp", "Ernie4_5VLVisionMLP",
                           linear("fc1", width, inner, Bias::yes) + module("act", act) +
                               linear("fc2", inner, width, Bias::yes));
               }) +
         layer_norm("ln", width);
}

/// Source: transformers 5.23, models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py.
Part ernie4_5_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "ernie4_5_vl_moe_text");
  const Config v = section_of(c, "vision_config", "ernie4_5_vl_moe_vision");
  const Size hidden = text.dim({"hidden_size"}), side = v.dim({"spatial_merge_size"}, 2);
  const Size wide = times({v.dim({"hidden_size"}), side, side});
  const auto merge = [&](std::string_view name, Size in_dim) {
    return in(name, k("VisionMLP"),
              linear("fc1", in_dim, wide, Bias::yes) + module("act_fn", "GELU") +
                  linear("fc2", wide, wide, Bias::yes) + layer_norm("ln", wide));
  };
  Part body = in("model", k("Model"),
                 in("language_model", k("TextModel"), language(text)) +
                     in("vision_tower", k("VisionTransformerPretrainedModel"), tower(v)) +
                     in("resampler_model", k("VariableResolutionResamplerModel"),
                        merge("spatial_linear", wide) +
                            merge("temporal_linear", wide * v.dim({"temporal_merge_size"}, 2)) +
                            linear("mlp", wide, hidden, Bias::yes) +
                            rms_norm("after_norm", k("RMSNorm"), hidden)));
  return with_language_head(with_unsplittable(std::move(body), {k("VisionBlock")}), text,
                            head_is_tied(c, text, true, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::ernie4_5_vl
