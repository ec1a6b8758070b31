// OpenVLA (arXiv:2406.09246): DINOv2's and SigLIP's towers side by side, a projector, and Llama
// that writes actions as tokens.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::openvla {

constexpr Size dino_width = 1024, siglip_width = 1152, patch = 14;

Part patch_embedding(Size width) {
  return in("patch_embed", "PatchEmbed",
            convolution("proj", "Conv2d", {width, 3, patch, patch}, Bias::yes));
}

/// vit_large_patch14_reg4_dinov2 of timm.
Part dino(Size positions) {
  return tensor("cls_token", {1, 1, dino_width}, Role::other) +
         tensor("reg_token", {1, 4, dino_width}, Role::other) +
         tensor("pos_embed", {1, positions, dino_width}, Role::embedding) +
         patch_embedding(dino_width) +
         stack("blocks", "DinoBlock", 24,
               [] { return timm_layer(dino_width, 4096, "scale_factor"); }) +
         layer_norm("norm", dino_width);
}

/// vit_so400m_patch14_siglip_224 of timm.
Part siglip(Size positions) {
  return tensor("pos_embed", {1, positions, siglip_width}, Role::embedding) +
         patch_embedding(siglip_width) +
         stack("blocks", "SiglipBlock", 27, [] { return timm_layer(siglip_width, 4304); }) +
         layer_norm("norm", siglip_width) + timm_pooling(siglip_width, 4304);
}

/// Source: vLLM 0.33 openvla.py, which takes this pair of towers alone.
Part openvla(const Config& c) {
  const auto ids = c.texts({"timm_model_ids"});
  const std::vector<std::string> known{"vit_large_patch14_reg4_dinov2.lvd142m",
                                       "vit_so400m_patch14_siglip_224"};
  if (!ids.empty() && ids != known)
    c.fail("timm_model_ids", "expected " + known[0] + " and " + known[1]);
  const auto sides = c.dims({"image_sizes"});
  const Size side = (sides.empty() ? 224 : sides.front()) / patch, positions = side * side;
  const Config text = with_class_defaults(
      c.section_or_empty("text_config").with_defaults({{"vocab_size", 32064}}), "llama");
  const Size seen = dino_width + siglip_width, width = width_of(text);
  Part p = in("vision_backbone", "PrismaticVisionBackbone",
              in("featurizer", "VisionTransformer", dino(positions)) +
                  in("fused_featurizer", "VisionTransformer", siglip(positions))) +
           in("projector", "PrismaticProjector",
              linear("fc1", seen, 4 * seen, Bias::yes) + module("act_fn1", "GELU") +
                  linear("fc2", 4 * seen, width, Bias::yes) + module("act_fn2", "GELU") +
                  linear("fc3", width, width, Bias::yes)) +
           whole_model(text, "language_model", "llama");
  return with_unsplittable(std::move(p), {"DinoBlock", "SiglipBlock"});
}

}  // namespace headroom::model::families::openvla
