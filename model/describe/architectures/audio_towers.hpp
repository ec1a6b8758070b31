// Audio encoders of models that listen: Whisper's, and Qwen's over three strided convolutions.
#pragma once

#include <string>

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

/// Whisper's encoder with its learned positions and a pooler at its end, class names of `prefix`.
Submodel whisper_tower(const Config& a, const std::string& prefix);

/// Layers of Whisper's encoder behind what `prefix` + "Encoder" registers first, its keys with or
/// without biases.
Part whisper_layers(const Config& a, const std::string& prefix, Bias key_bias);

/// The section with the sizes of whisper-large where it has none: 32 layers of width 1280.
Config with_large_whisper_sizes(const Config& a);

/// Mel bins that are left after three convolutions of stride 2, each of `downsample_hidden_size`
/// channels, which `conv_out` projects.
Part strided_convolutions(const Config& a);

/// Parakeet's FastConformer, and Nemotron's that looks back alone.
Submodel parakeet_encoder(const Config& a);
Submodel streaming_encoder(const Config& a);

/// A constant table of sines.
Part sine_table(Size rows, Size dim);

}  // namespace headroom::model::families
