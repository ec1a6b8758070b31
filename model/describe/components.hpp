// Parameters of a multimodal model by component: language model, image encoder, audio encoder,
// projector.
#pragma once

#include <array>
#include <optional>
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
  other,  ///< a part under a name that is not known
};
inline constexpr std::array<std::string_view, 5> component_names = {"language", "vision", "audio",
                                                                    "projector", "other"};

/// Path of the module that owns the decoding stack, with a dot at its end: "model.language_model.".
/// Empty where nothing decodes.
std::string text_root(const Profile& profile);

/// Parameters of each component, indexed by `Component`. A tied tensor counts with its owner. The
/// sum is profile.parameters. A model with no tower of a known name is all language.
///
/// Names of modules in transformers 5.23 decide, the innermost known one first: a merger inside a
/// vision tower is a projector. Tensors without a known name next to the decoding stack are
/// language.
std::array<Size, 5> components_of(const Part& part, const Profile& profile);

/// The component of a tensor or module, where `root` is `text_root`; nullopt: neither below the
/// root nor named.
std::optional<Component> component_at(std::string_view path, const std::string& root);
/// A tower of images or sound, or a projector.
bool is_beside_language(std::optional<Component> component);

/// The module that holds the decoder with its head, and a dot, if they are one model of several
/// (Qwen3-Omni's thinker, next to its talker); else empty. `root` is `text_root`.
std::string model_of_text(const Part& part, const std::string& root);

/// `part` without towers and projectors: its language model, and parts whose names are not known.
Part without_towers(Part part, const Profile& profile);

/// Parameters without embeddings and without an untied output head, as model cards count
/// "non-embedding parameters" (huggingface.co/Qwen/Qwen3-8B: 6.95B of 8.2B).
Size non_embedding_parameters(const Part& part);

}  // namespace headroom::model
