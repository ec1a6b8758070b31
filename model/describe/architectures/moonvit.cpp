// MoonViT (arXiv:2504.07491) under the names of its checkpoints.
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

/// Sources: vLLM 0.33, moonvit.py and transformers_utils/configs/moonvit.py; SGLang 0.5.23
/// models/kimi_vl_moonvit.py.
Submodel moonvit(const Config& v) {
  const Size width = v.dim({"hidden_size"}, 1152), inner = v.dim({"intermediate_size"}, 4304);
  const auto [patch, other] = pair_of(v, "patch_size", 14);
  const Part layer =
      layer_norm("norm0", width) + layer_norm("norm1", width) +
      in("mlp", "MLP2",
         linear("fc0", width, inner, Bias::yes) + linear("fc1", inner, width, Bias::yes)) +
      linear("wqkv", width, 3 * width, Bias::yes) + linear("wo", width, width, Bias::yes);
  Part p = in("patch_embed", "MoonVisionPatchEmbed",
              convolution("proj", "Conv2d", {width, 3, patch, other}, Bias::yes) +
                  in("pos_emb", "Learnable2DInterpPosEmb",
                     tensor("weight",
                            {v.dim({"init_pos_emb_height"}, 64), v.dim({"init_pos_emb_width"}, 64),
                             width},
                            Role::embedding))) +
           in("encoder", "MoonVitEncoder",
              stack("blocks", "MoonVitEncoderLayer", v.dim({"num_hidden_layers"}, 27), [&] {
                return layer;
              }) + layer_norm("final_layernorm", width));
  return {"MoonVitPretrainedModel", unsplittable(std::move(p), {"MoonVitEncoderLayer"}), width};
}

}  // namespace headroom::model::families
