// Axes of what is served with a model: low-rank adapters, proposed tokens, images, or text alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/describe/images.hpp"
#include "model/infer/memory/served_adapters.hpp"
#include "sweep/options/speculation.hpp"

namespace headroom::sweep {

/// The keys of these axes and their columns.
struct ExtraAxis {
  std::string_view key, column;
};
inline constexpr ExtraAxis extra_axes[] = {{"adapters", "served_adapters"},
                                           {"speculate", "speculate"},
                                           {"images", "images"},
                                           {"text_only", "text_only"}};

/// One value of such an axis; "none" has none of them.
struct ServedExtra {
  std::string text;  ///< as the spec has it
  std::optional<model::ServedAdapters> adapters;
  std::optional<Speculation> speculation;
  const model::QuantisedModel* proposer = nullptr;  ///< put in when a draft model is looked up
  bool text_only = false;
  Size images = 0;
  model::ImageSize image;  ///< 0: the model makes as many tokens of every image
};

/// "none", or the form of the axis:
///
///   adapters  COUNTxRANK[:TARGETS] "4x16", "4x16:all-linear"
///   speculate METHOD:N[@SHARE] "mtp:2", "draft:Llama-3.2-1B:5@0.7"
///   images    COUNT[xWIDTHxHEIGHT] "2x1920x1080"
///   text_only "yes"
///
/// Throws std::invalid_argument that says what was expected.
ServedExtra parse_extra(std::string_view axis, const std::string& text);

/// Tokens and patches of an image in `model`. Throws std::invalid_argument: a model without images
/// or whose images are not described, a size that is missing or without effect.
model::ImageInput image_of(const model::Model& model, const ServedExtra& images,
                           model::ImageLimits limits);

}  // namespace headroom::sweep
