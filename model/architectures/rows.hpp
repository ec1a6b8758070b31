// The table of architectures in parts, so that no one file holds it all: each is read top to bottom
// in its own file, and model/architecture.cpp puts them together in this order.
#pragma once

#include <span>

#include "model/architecture.hpp"

namespace headroom::model::families {

std::span<const Architecture> decoder_rows();
std::span<const Architecture> sparse_rows();
std::span<const Architecture> encoder_rows();
std::span<const Architecture> encoder_decoder_rows();
std::span<const Architecture> vision_language_rows();
std::span<const Architecture> classifier_rows();
std::span<const Architecture> speech_rows();
std::span<const Architecture> vision_encoder_rows();

}  // namespace headroom::model::families
