// How a vision-language model turns an image into tokens of its context.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"

namespace headroom::model {

enum class ImageTokens {
  unknown,  ///< no images, or a rule that is not described
  fixed,    ///< every image is scaled to one size
  area,     ///< edges become multiples of patch * merge, within limits of area
  rows,     ///< scaled to a longest edge; each row ends with one more token
  tiles,    ///< cut into squares of one size, and the whole image as one more
};

struct ImageRule {
  ImageTokens kind = ImageTokens::unknown;
  Size tokens = 0, patches = 0;         ///< for each image (fixed) or for each square (tiles)
  Size patch = 0, merge = 1;            ///< pixels of a patch's edge; patches along a token's edge
  Size min_pixels = 0, max_pixels = 0;  ///< area
  Size longest_edge = 0;                ///< rows
  /// area, rows: llama.cpp scales an image to so many tokens; 0: as the processor does
  Size least_tokens = 0, most_tokens = 0;
  Size edge = 0;                         ///< tiles: pixels of a square's edge
  Size least_tiles = 1, most_tiles = 1;  ///< tiles, without the whole image
  bool whole = false;                    ///< tiles: the whole image follows if there are several
  Size hidden = 0;                       ///< width of the vision tower
  /// Vectors of the text's width for each token: one, and those for deeper layers.
  Size features = 1;
  /// The longest video: embeddings, and tokens with the time stamps between them; 0: not described.
  Size video_embeddings = 0, video_tokens = 0;
  std::string_view source;
};

/// Numbers in the config's `vision_config` by the keys that SGLang reads; its defaults where they
/// are missing. Source: SGLang 0.5.23 arg_groups/memory_hook.py adjust_mem_fraction_for_vlm.
struct VisionConfig {
  bool stated = false;  ///< there is a vision_config
  Size layers = 24;     ///< num_hidden_layers
  Size hidden = 1024;   ///< hidden_size: in some configs the text model's
};
VisionConfig vision_config(const Config& config);

/// The rule of the config's model_type. Grids and numbers of tokens come from `vision_config`.
/// Limits of area stand only in the published preprocessor_config.json; the row names that source.
ImageRule image_rule(const Config& config);

/// Size of an image before it is scaled.
struct ImageSize {
  Size width = 0, height = 0;  ///< pixels; 0 where the rule is fixed
};
struct ImageInput {
  Size tokens = 0;   ///< tokens in the context, without the few that a chat template adds
  Size patches = 0;  ///< through the vision tower
};
/// Limits of the size of an image.
enum class ImageLimits {
  processor,  ///< the published processor
  tokens,     ///< ImageRule::least_tokens, most_tokens: llama.cpp and programs on it
};
/// Tokens and patches of one image. Throws std::invalid_argument where the rule is unknown or
/// refuses the size.
///
///   area  edges are rounded to multiples of f = patch * merge, halves to even; an image beyond
///         the limits is scaled by the root of the areas' ratio, then rounded down (or up)
///   rows  the image is scaled to the longest edge, rounded down to pixels, then up to multiples
///         of f: height / f * (width / f + 1) tokens
///   tiles the grid whose width / height is closest to the image's is filled. Of two equally close
///         ones the larger counts if the image has more than half of its pixels
///
/// Source: transformers 5.23 models/qwen2_vl/image_processing_qwen2_vl.py smart_resize and
/// models/pixtral/processing_pixtral.py, vLLM 0.33 transformers_utils/processors/internvl.py. Every
/// rule is compared with its source (tests/oracle/data/image_tokens.csv).
///
/// llama.cpp's limits: tools/mtmd/clip.cpp set_limit_image_tokens, mtmd-image.cpp
/// calc_size_preserved_ratio. It scales images of Pixtral by their area too.
ImageInput image_input(const ImageRule& rule, ImageSize size,
                       ImageLimits limits = ImageLimits::processor);

}  // namespace headroom::model
