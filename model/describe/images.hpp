// How a vision-language model turns an image into tokens of its context.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"

namespace headroom::model {

enum class ImageTokens {
  unknown,  ///< no images, or a rule that is not described
  fixed,    ///< every image is scaled to one size
  area,     ///< scaled to multiples of patch * merge within limits of area
  rows,     ///< scaled below a longest edge; one token more ends each row
};

struct ImageRule {
  ImageTokens kind = ImageTokens::unknown;
  Size tokens = 0, patches = 0;  ///< fixed: of each image
  Size patch = 0, merge = 1;     ///< pixels of a patch's edge; patches along a token's edge
  Size least_pixels = 0, most_pixels = 0;  ///< area
  Size longest_edge = 0;                   ///< rows
  Size hidden = 0;                         ///< width of the vision tower
  std::string_view source;
};

/// By the model's type and its config: grids and numbers of tokens from `vision_config`, what only
/// the published preprocessor_config.json says (limits of area) with its source.
ImageRule image_rule(const Config& config);

/// What one image becomes.
struct ImageSize {
  Size width = 0, height = 0;  ///< pixels; 0 where the rule is fixed
};
struct ImageInput {
  Size tokens = 0;   ///< of the context, without the few that a chat template puts around it
  Size patches = 0;  ///< through the vision tower
};
/// `size`: as given, before it is scaled. Throws std::invalid_argument where the rule refuses it or
/// is unknown.
///
///   area  edges rounded to multiples of f = patch * merge, halves to even; where their area is
///         beyond the limits scaled by its root first, then rounded down (or up) to multiples
///   rows  scaled by the longest edge, rounded down to pixels, then up to multiples of f:
///         height / f * (width / f + 1) tokens
///
/// Source: transformers 5.23 models/qwen2_vl/image_processing_qwen2_vl.py smart_resize and
/// models/pixtral/processing_pixtral.py, against which every rule is checked
/// (tests/oracle/data/image_tokens.csv).
ImageInput image_input(const ImageRule& rule, ImageSize size);

}  // namespace headroom::model
