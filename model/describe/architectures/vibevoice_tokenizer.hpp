// VibeVoice's convolutional autoencoder of speech (arXiv:2508.19205): samples to a few frames a
// second and back.
#pragma once

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

Submodel vibevoice_encoder(const Config& a);

}  // namespace headroom::model::families
