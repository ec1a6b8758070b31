// Models made of models. A vision-language model is a tower, a projector and a text model without
// its head.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "model/describe/architectures/words.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families {

/// A model without its head. `as` puts it below a name.
struct Submodel {
  std::string class_name;
  Part part;
  Size width;  ///< width of its output
  Part as(std::string_view name) const { return in(name, class_name, part); }
};

/// A section of a config with the defaults of its class. `model_type` is for a section that names
/// none.
Config section_of(const Config& c, std::string_view key, std::string_view model_type);
/// section_of for sections whose keys older files have at the top level ("text_config").
Config section_or_self(const Config& c, std::string_view key, std::string_view model_type);

/// The body of the text model of config `c`, chosen by its model_type. Throws ConfigError that
/// lists the described types.
Submodel text_model(const Config& c);
Submodel text_model(const Config& c, std::string_view model_type);

/// `part` with the owners of its tied tensors renamed for its place below `path`.
Part owners_at(Part part, std::string_view path);

/// The text model of config `c` with its head, as the root's child `name`.
Part whole_model(const Config& c, std::string_view name);
/// The text model of config `c` with its head, at the root.
Part whole_model(const Config& c);
/// Like the above, for a config that has the text model's keys among its own. `type` selects the
/// model.
Part whole_model(const Config& c, std::string_view name, std::string_view type);
/// The text model of config `c` without its head, as the root's child `name`. An empty name keeps
/// the one of the language model ("model", "transformer", ...).
Part body_without_head(const Config& c, std::string_view name = "");
/// The width of a text model's input and output.
Size width_of(const Config& c);

/// The rows of `part` below the module `name`, with that module's class.
Submodel body_of(const Part& part, std::string_view name);

/// `part` with class names that start with `from` renamed to start with `to`, except `kept`.
Part renamed(Part part, std::string_view from, std::string_view to,
             std::initializer_list<std::string_view> kept = {});

/// True if the head is tied. The whole config decides, else `fallback`. With `Inherit::yes` the
/// text section may decide too, as in files from before transformers 5.
enum class Inherit : bool { no, yes };
bool head_is_tied(const Config& whole, const Config& text, bool fallback, Inherit inherit);

/// `body` and its lm_head over the text vocabulary.
Part with_language_head(Part body, const Config& text, bool is_tied,
                        std::string_view embedding_weight);

/// Frequency tables of a rotary embedding: `count` frequencies, which are kept twice.
Part frequencies(std::string_view name, std::string_view class_name, Size count);

/// `part` without the module `path` and what is below it.
Part without(Part part, std::string_view path);
/// `part` with the module `from` called `to`.
Part moved(Part part, std::string_view from, std::string_view to);

/// The kinds of layers that occur, in alphabetical order.
std::vector<std::string> kinds_of(const std::vector<std::string>& types);

/// Adds classes that a placement must not split.
Part with_unsplittable(Part part, std::initializer_list<std::string> classes);

}  // namespace headroom::model::families
