// DeepSeek-VL2 (arXiv:2412.10302): SigLIP's tower under timm's names, a projector over blocks of
// patches, and DeepSeek-V2.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/config_words.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::deepseek_vl2 {

/// One learned query that attends to all patches. Engines leave it out, files have it.
Part attention_pool(Size width, Size inner) {
  return in(
      "attn_pool", "AttentionPoolLatent",
      tensor("latent", {1, 1, width}, Role::other) + linear("q", width, width, Bias::yes) +
          linear("kv", width, 2 * width, Bias::yes) + linear("proj", width, width, Bias::yes) +
          layer_norm("norm", width) +
          in("mlp", "Mlp",
             linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)));
}

/// Defaults: vLLM 0.33, transformers_utils/configs/deepseek_vl2.py. mlp_ratio gives the inner
/// width, rounded down.
Submodel vision_transformer(const Config& v) {
  const Size width = v.dim({"width"}, 1024), layers = v.dim({"layers"}, 24);
  const Size patch = v.dim({"patch_size"}, 16), side = v.dim({"image_size"}, 384) / patch;
  const Size inner =
      whole_width(v, "mlp_ratio", v.number({"mlp_ratio"}, 4.0) * static_cast<double>(width));
  const Part layer =
      layer_norm("norm1", width) +
      in("attn", "Attention",
         linear("qkv", width, 3 * width, Bias::yes) + linear("proj", width, width, Bias::yes)) +
      layer_norm("norm2", width) +
      in("mlp", "Mlp",
         linear("fc1", width, inner, Bias::yes) + module("act", "GELU") +
             linear("fc2", inner, width, Bias::yes));
  Part p = tensor("pos_embed", {1, side * side, width}, Role::embedding) +
           in("patch_embed", "PatchEmbed",
              convolution("proj", "Conv2d", {width, 3, patch, patch}, Bias::yes)) +
           stack("blocks", "Block", layers, [&] { return layer; }) + layer_norm("norm", width);
  if (v.text({"global_pool"}, "map") == "map") p = std::move(p) + attention_pool(width, inner);
  return {"VisionTransformer", unsplittable(std::move(p), {"Block"}), width};
}

/// A sequence of linear layers and GELU over downsample_ratio x downsample_ratio patches, or one
/// linear layer.
Part projector(const Config& c) {
  const Config p = c.section_or_empty("projector_config");
  const Size in_dim = p.dim({"input_dim"}, 1152), out = p.dim({"n_embed"}, 2048);
  const std::string type =
      word_of(p, {"projector_type"}, "downsample_mlp_gelu", {"downsample_mlp_gelu", "linear"});
  if (type == "linear")
    return in("projector", "MlpProjector", linear("layers", in_dim, out, Bias::yes));
  const Size side = p.dim({"downsample_ratio"}, 2), through = times({out, p.dim({"mlp_ratio"}, 1)});
  const Size depth = p.dim({"depth"}, 2);
  if (depth > 64) p.fail("depth", "expected at most 64 layers");
  Part all = linear("0", times({in_dim, side, side}), through, Bias::yes);
  for (Size i = 1; i < depth; ++i)
    all = std::move(all) + module(std::to_string(2 * i - 1), "GELU") +
          linear(std::to_string(2 * i), through, i + 1 < depth ? through : out, Bias::yes);
  return in("projector", "MlpProjector", in("layers", "Sequential", std::move(all)));
}

/// Source: vLLM 0.33, deepseek_vl2.py.
Part deepseek_vl2(const Config& c) {
  const Config text = section_of(c, "language_config", "deepseek_v2");
  const Size out = c.section_or_empty("projector_config").dim({"n_embed"}, 2048);
  Part p = tensor("image_newline", {out}, Role::other) +
           tensor("view_seperator", {out}, Role::other) +
           vision_transformer(c.section("vision_config")).as("vision") + projector(c) +
           whole_model(text, "language");
  return p;
}

}  // namespace headroom::model::families::deepseek_vl2
