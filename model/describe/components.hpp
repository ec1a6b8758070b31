// What the parts of a multimodal model are for: the language model, encoders of images and of
// sound, and what projects their output into the language model.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "model/describe/part.hpp"
#include "model/describe/profile.hpp"

namespace headroom::model {

enum class Component {
  language,
  vision,
  audio,
  projector,
  other,  ///< beside them, under a name that is not known
};
inline constexpr std::array<std::string_view, 5> component_names = {"language", "vision", "audio",
                                                                    "projector", "other"};

/// The path of the module that owns the decoding stack, with a dot: "model.language_model.". Empty
/// where nothing decodes.
std::string text_root(const Profile& profile);

/// Parameters of each component, by `Component`: trained elements, tied ones with their owner. They
/// sum to profile.parameters. A model with no tower of a known name is language alone.
///
/// Told apart by the names of modules in transformers 5.23: the innermost known one decides, so
/// that a merger inside a vision tower is a projector; what has none and stands beside the decoding
/// stack is language.
std::array<Size, 5> components_of(const Part& part, const Profile& profile);

/// Parameters that are neither embeddings nor an output head with storage of its own, as model
/// cards count "non-embedding parameters" (huggingface.co/Qwen/Qwen3-8B: 6.95B of 8.2B).
Size non_embedding_parameters(const Part& part);

}  // namespace headroom::model
