// openPangu-VL: a tower like Qwen2.5-VL's, two of whose layers are merged and added, and openPangu
// Embedded.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::openpangu_vl {

Part tower(const Config& v, Size hidden) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}), merge = v.dim({"spatial_merge_size"}, 2);
  const Size wide = times({width, merge, merge}), out = v.dim({"out_hidden_size"});
  const auto norm = [&](std::string_view name) {
    return rms_norm(name, "OpenPanguRMSNorm", width);
  };
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const bool gated = v.text({"hidden_act"}, "silu") == "silu";
  const auto layer = [&] {
    return norm("norm1") + norm("norm2") +
           in("attn", "OpenPanguVisionAttention",
              linear("qkv", width, 3 * width, Bias::yes) +
                  linear("proj", width, width, Bias::yes)) +
           in("mlp", "OpenPanguVisionMLP",
              gated ? gated_mlp(width, inner, act, Bias::yes)
                    : linear("up_proj", width, inner, Bias::yes) +
                          linear("down_proj", inner, width, Bias::yes) + module("act_fn", act));
  };
  const Size merged = feature_layers(v, "mm_unit_vision_select_layer", 2);
  return in("patch_embed", "OpenPanguVisionPatchEmbed",
            convolution("proj", "Conv3d",
                        {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch,
                         patch})) +
         stack("blocks", "OpenPanguVisionBlock", v.dim({"depth"}), layer) +
         norm("final_layernorm") +
         list("merger", merged,
              [&](const std::string& name, Size) {
                return in(
                    name, "OpenPanguVisionPatchMerger",
                    norm("ln_q") + in("mlp", "Sequential",
                                      linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                          linear("2", wide, out, Bias::yes)));
              }) +
         in("vision_projection", "ProjectionSingle", linear("fc1", out, hidden, Bias::yes));
}

/// Source: vLLM 0.33 openpangu_vl.py. The text model's keys stand at the top level.
Part openpangu_vl(const Config& c) {
  const Submodel language = text_model(c, "PanguEmbedded");
  Part body = in("model", "OpenPanguVLModel",
                 in("visual", "OpenPanguVisionTransformer",
                    tower(c.section("vision_config"), language.width)) +
                     language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {"OpenPanguVisionBlock"}), c,
                            head_is_tied(c, c, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::openpangu_vl
