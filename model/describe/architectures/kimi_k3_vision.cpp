// Kimi K3 with its vision tower: MoonViT with positions in space and time, a projector over blocks
// of patches, and the text model (kimi_k3.cpp).
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::kimi_k3_vision {

/// Source: SGLang 0.5.23, kimi_k3_vl.py. Queries, keys and values may be wider than the stream.
Submodel moonvit3d(const Config& v) {
  const Size width = v.dim({"vt_hidden_size"}), inner = v.dim({"vt_intermediate_size"});
  const Size seen = v.dim({"qkv_hidden_size"}, width);
  const Bias attends = v.bias({"attn_bias"}, false), rest = v.bias({"linear_bias"}, true);
  const auto [patch, other] = pair_of(v, "patch_size", 14);
  const bool rms = word_of(v, {"norm_type"}, "layernorm", {"layernorm", "rmsnorm"}) == "rmsnorm";
  const auto norm = [&](std::string_view name) {
    return rms ? rms_norm(name, "RMSNorm", width) : layer_norm(name, width);
  };
  const Part layer =
      norm("norm0") + norm("norm1") +
      in("mlp", "MLP2", linear("fc0", width, inner, rest) + linear("fc1", inner, width, rest)) +
      linear("wqkv", width, 3 * seen, attends) + linear("wo", seen, width, attends);
  Part p = in("patch_embed", "MoonVision3dPatchEmbed",
              convolution("proj", "Conv2d", {width, 3, patch, other},
                          v.bias({"patch_embed_proj_bias"}, true)) +
                  in("pos_emb", "Learnable2DInterpPosEmbDividedFixed",
                     tensor("weight",
                            {v.dim({"init_pos_emb_height"}, 64), v.dim({"init_pos_emb_width"}, 64),
                             width},
                            Role::embedding) +
                         buffer("time_weight", {v.dim({"init_pos_emb_time"}, 4), 1, width}))) +
           in("encoder", "MoonViT3dEncoder",
              stack("blocks", "MoonViTEncoderLayer", v.dim({"vt_num_hidden_layers"}), [&] {
                return layer;
              }) + norm("final_layernorm"));
  return {"KimiK3VisionTower", unsplittable(std::move(p), {"MoonViTEncoderLayer"}), width};
}

/// Source: SGLang 0.5.23, kimi_k3_vl.py. The text section calls itself kimi_linear.
Part kimi_k3(const Config& c) {
  const Config text = section_of(c, "text_config", "kimi_k3_text"), v = c.section("vision_config");
  const Submodel vision = moonvit3d(v), language = text_model(text, "kimi_k3_text");
  const auto [rows, columns] = pair_of(v, "merge_kernel_size", 2);
  const Size wide = times({vision.width, rows, columns});
  Part p =
      with_language_head(in("model", language.class_name, language.part), text,
                         head_is_tied(c, text, false, Inherit::yes), "model.embed_tokens.weight");
  return vision.as("vision_tower") +
         in("mm_projector", "KimiK3MultiModalProjector",
            in("proj", "Sequential",
               linear("0", wide, wide) + module("1", "GELU") + linear("2", wide, language.width)) +
                rms_norm("post_norm", "RMSNorm", language.width)) +
         in("language_model", "KimiK3LinearForCausalLM", owners_at(std::move(p), "language_model"));
}

}  // namespace headroom::model::families::kimi_k3_vision
