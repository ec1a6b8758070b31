// The convolutional autoencoder with a codebook (VQGAN, arXiv:2012.09841) by which models write
// images as tokens.
#pragma once

#include <functional>
#include <string>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

/// Class names, each model's own.
struct VqClasses {
  std::string residual, attention, down, up, middle;
};

/// A convolution of `kernel` x `kernel` with a bias.
Part image_convolution(std::string_view name, Size from, Size to, Size kernel);

/// The content of the encoder: residual blocks of base_channels * channel_multiplier, halved
/// between, with attention in the levels where `attends(level)`, and `middle_attention` before its
/// end.
Part vq_encoder(const Config& c, const VqClasses& k, const std::function<bool(Size)>& attends,
                bool middle_attention = true);

/// Its mirror image, with attention where the picture is smallest.
Part vq_decoder(const Config& c, const VqClasses& k);

}  // namespace headroom::model::families
