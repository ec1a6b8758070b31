// Vision encoders that stand alone or inside vision-language models.
#pragma once

#include <utility>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

/// The encoder of a vision section, selected by its model_type. If it is unknown, throws
/// ConfigError with the described types.
Submodel vision_model(const Config& c);

/// Patches along one side of an image, squared.
Size patches(const Config& c);

/// Height and width, from one number or a list of two. `fallback` applies if the key is absent.
std::pair<Size, Size> pair_of(const Config& c, std::string_view key, Size fallback);

/// Number of layers whose features are concatenated. It is the length of the list at `key`, 1 for a
/// number, and otherwise `fallback`.
Size feature_layers(const Config& c, std::string_view key = "vision_feature_layer",
                    Size fallback = 1);

/// CLIP, SigLIP and SigLIP 2, vision and text sides.
Submodel clip_vision(const Config& c);
Submodel clip_text(const Config& c);
Submodel siglip_vision(const Config& c);
Submodel siglip2_vision(const Config& c);
Submodel siglip_text(const Config& c, std::string_view prefix);
Submodel pixtral_vision(const Config& c);
Submodel internvl_vision(const Config& c);
/// MoonViT of Kimi-VL and LocateAnything. Kimi K2.5 and K3 have towers of their own.
Submodel moonvit(const Config& v);
Submodel idefics_vision(const Config& c, const std::string& name);
/// Qwen's towers. `name` ("Qwen3VL", "Qwen3_5", ...) is the prefix of the class names if several
/// models share a tower.
Submodel qwen2_vision(const Config& c);
Submodel qwen2_5_vision(const Config& c);
/// With `merged`, separate mergers also merge the outputs of earlier layers (Qwen3-VL).
enum class EarlierOutputs : bool { unused, merged };
Submodel qwen3_vision(const Config& c, const std::string& name,
                      EarlierOutputs earlier = EarlierOutputs::unused);

namespace qwen_vl {
/// The text model of Qwen3-VL ("qwen3_vl_text", "qwen3_vl_moe_text") or Qwen3.5, without its head.
Submodel qwen3_vl_text(const Config& text, std::string_view type);
}  // namespace qwen_vl

/// C-RADIO (arXiv:2312.06709) with the names of its own checkpoints. `v` has `args` with the name
/// of a tower of timm.
Submodel c_radio(const Config& v);

/// Gemma 4's vision and audio towers. Other models reuse them.
Submodel gemma4_vision(const Config& c);
Submodel gemma4_audio(const Config& c);

/// The child `qformer`: BERT's layers over learned queries. Every few layers attend to an encoder's
/// output of width `seen`. Class names start with `name` ("Blip2", "InstructBlip").
Part qformer(const Config& q, const std::string& name, Size seen);

/// Class names of a copy of SAM's tower.
struct SamClasses {
  std::string prefix, encoder, layer, attention, patches, neck;
};
/// SAM's tower. Its width is the width of its neck.
Submodel sam_vision(const Config& c, const SamClasses& names);

}  // namespace headroom::model::families
