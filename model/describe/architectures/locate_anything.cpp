// LocateAnything: MoonViT (arXiv:2504.07491) and a Qwen2 that writes boxes as tokens.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::locate_anything {

/// MoonViT with the names of its checkpoints. Source: SGLang 0.5.23 models/kimi_vl_moonvit.py.
Part moonvit(const Config& v) {
  const Size width = v.dim({"hidden_size"}, 1152), inner = v.dim({"intermediate_size"}, 4304);
  const Size patch = v.dim({"patch_size"}, 14);
  const auto layer = [&](Size) {
    return layer_norm("norm0", width) + layer_norm("norm1", width) +
           in("mlp", "MLP2",
              linear("fc0", width, inner, Bias::yes) + module("activation", "GELUTanh") +
                  linear("fc1", inner, width, Bias::yes)) +
           linear("wqkv", width, 3 * width, Bias::yes) + linear("wo", width, width, Bias::yes);
  };
  return in("patch_embed", "MoonVisionPatchEmbed",
            convolution("proj", "Conv2d", {width, 3, patch, patch}, Bias::yes) +
                in("pos_emb", "Learnable2DInterpPosEmb",
                   tensor("weight",
                          {v.dim({"init_pos_emb_height"}, 64), v.dim({"init_pos_emb_width"}, 64),
                           width},
                          Role::embedding))) +
         in("encoder", "MoonVitEncoder",
            stack("blocks", "MoonVitEncoderLayer", v.dim({"num_hidden_layers"}, 27), layer) +
                layer_norm("final_layernorm", width));
}

/// Source: SGLang 0.5.23 models/locate_anything.py.
Part locate_anything(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = c.section_or_empty("vision_config");
  const auto [rows, columns] = pair_of(v, "merge_kernel_size", 2);
  const Size wide = v.dim({"hidden_size"}, 1152) * rows * columns, width = width_of(text);
  return with_unsplittable(in("vision_model", "MoonVitPretrainedModel", moonvit(v)) +
                               in("mlp1", "Sequential",
                                  layer_norm("0", wide) + linear("1", wide, width, Bias::yes) +
                                      module("2", "GELU") + linear("3", width, width, Bias::yes)) +
                               whole_model(text, "language_model"),
                           {"MoonVitEncoderLayer"});
}

}  // namespace headroom::model::families::locate_anything
