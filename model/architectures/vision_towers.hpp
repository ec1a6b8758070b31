// Vision encoders that stand alone or inside vision-language models.
#pragma once

#include "model/architectures/composition.hpp"

namespace headroom::model::families {

/// The encoder that a vision section describes, by its model_type. Throws ConfigError naming the
/// types that are described.
Submodel vision_model(const Config& c);

/// Patches along one side of an image, squared.
Size patches(const Config& c);

/// CLIP, SigLIP and SigLIP 2, vision and text sides.
Submodel clip_vision(const Config& c);
Submodel clip_text(const Config& c);
Submodel siglip_vision(const Config& c);
Submodel siglip2_vision(const Config& c);
Submodel siglip_text(const Config& c, std::string_view prefix);
Submodel pixtral_vision(const Config& c);

}  // namespace headroom::model::families
