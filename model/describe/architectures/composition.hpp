// Models inside models: a vision-language model is its tower, its projector and a text model that
// is described elsewhere and used here without its head.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "model/describe/architectures/words.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families {

/// A model without its head, to be put below a name with `as`.
struct Submodel {
  std::string class_name;
  Part part;
  Size width;  ///< of what it puts out
  Part as(std::string_view name) const { return in(name, class_name, part); }
};

/// A section of a config with the defaults of its class; `model_type` where it names none.
Config section_of(const Config& c, std::string_view key, std::string_view model_type);
/// The same, where the keys may also stand at the top level ("text_config" of older files).
Config section_or_self(const Config& c, std::string_view key, std::string_view model_type);

/// The body of the text model that `c` is the config of, by its model_type. Throws ConfigError
/// naming the types that are described.
Submodel text_model(const Config& c);
Submodel text_model(const Config& c, std::string_view model_type);

/// The part of a whole model whose tied tensors name their owners as they are called below `path`,
/// where it is to be put.
Part owners_at(Part part, std::string_view path);

/// The text model that `c` is the config of, its head included, as the root's child `name`.
Part whole_model(const Config& c, std::string_view name);
/// The text model that `c` is the config of, without its head, as the root's child `name`; empty:
/// the name that it has in the language model ("model", "transformer", ...).
Part body_without_head(const Config& c, std::string_view name = "");
/// The width of what a text model reads and puts out.
Size width_of(const Config& c);

/// The rows of `part` below the module `name`, with that module's class.
Submodel body_of(const Part& part, std::string_view name);

/// The same part with class names that start with `from` starting with `to`, except `kept`.
Part renamed(Part part, std::string_view from, std::string_view to,
             std::initializer_list<std::string_view> kept = {});

/// Whether the head is tied: what the whole config says, else `fallback`. `Inherit::yes`: a text
/// section that says so is enough, as files from before transformers 5 have it.
enum class Inherit : bool { no, yes };
bool head_is_tied(const Config& whole, const Config& text, bool fallback, Inherit inherit);

/// `body` and its lm_head over the text vocabulary.
Part with_language_head(Part body, const Config& text, bool is_tied,
                        std::string_view embedding_weight);

/// Frequency tables of a rotary embedding: `count` of them, kept twice.
Part frequencies(std::string_view name, std::string_view class_name, Size count);

/// The kinds of layers that occur, in alphabetical order.
std::vector<std::string> kinds_of(const std::vector<std::string>& types);

/// Classes that must not be split, added to those of the parts.
Part with_unsplittable(Part part, std::initializer_list<std::string> classes);

}  // namespace headroom::model::families
