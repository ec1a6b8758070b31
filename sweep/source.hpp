// From what a user types for MODEL to a model: catalogue and short names, files and folders.
//
// A source is asked in turn whether it knows a reference; more sources (tensor headers, the hub)
// are rows of the same list.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace headroom::sweep {

/// "MODEL?num_hidden_layers=12&text_config.vocab_size=1000", taken apart.
struct ModelReference {
  std::string name;                                            ///< before the "?"
  std::vector<std::pair<std::string, std::string>> overrides;  ///< config key (dotted), value
};
/// Throws std::invalid_argument for an override without key or value.
ModelReference parse_reference(std::string_view text);

/// Somewhere that metadata of models comes from.
class ModelSource {
 public:
  virtual ~ModelSource() = default;
  /// The model, or nothing where this source does not know the reference. Throws ConfigError or
  /// std::runtime_error when it knows it and cannot read it.
  virtual std::optional<model::Model> find(const ModelReference& reference) const = 0;
};

/// Short names and the catalogue inside the program.
std::unique_ptr<ModelSource> catalogue_source();
/// A config.json, or a folder that has one.
std::unique_ptr<ModelSource> file_source();

/// `text` by the first source that knows it. Throws UnknownName with the nearest catalogue names.
model::Model resolve_model(std::string_view text);

/// Names of the catalogue, in the order of the alphabet.
std::vector<std::string> catalogue_models();
/// Short names and what they stand for.
struct ShortName {
  std::string_view name, model;
};
std::span<const ShortName> short_names();

}  // namespace headroom::sweep
