// The convolutional autoencoder with a codebook (VQGAN, arXiv:2012.09841). With it, models write
// images as tokens.
#pragma once

#include <functional>
#include <string>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

/// The class names of each model. With a `stage`, the encoder has a list of stages, and each
/// residual block makes one `block` with its attention.
struct VqClasses {
  std::string residual, attention, down, up, middle;
  std::string stage{}, block{};
};

/// A convolution of `kernel` x `kernel` with a bias.
Part image_convolution(std::string_view name, Size from, Size to, Size kernel);

/// The content of the encoder: residual blocks of base_channels * channel_multiplier. The
/// resolution halves between levels. Levels with `attends(level)` have attention.
/// `middle_attention` adds attention before the end.
Part vq_encoder(const Config& c, const VqClasses& k, const std::function<bool(Size)>& attends,
                bool middle_attention = true);

/// The content of the decoder, the encoder's mirror image. It has attention at the smallest
/// resolution.
Part vq_decoder(const Config& c, const VqClasses& k);

}  // namespace headroom::model::families
