// VibeVoice's convolutional autoencoder of speech (arXiv:2508.19205). It turns samples into a few
// frames per second, and frames into samples.
#pragma once

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

Submodel vibevoice_encoder(const Config& a);

}  // namespace headroom::model::families
