// From what a user types for MODEL to a model: catalogue and short names, files and folders.
//
// A source is asked in turn whether it knows a reference: the catalogue, the file system, the hub.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::sweep {

/// "MODEL?num_hidden_layers=12&text_config.vocab_size=1000", parsed.
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
/// True if the program itself contains the model that `text` names: nothing outside describes it.
bool in_catalogue(std::string_view text);
/// True if `text` has an owner or a path as models have, or the catalogue knows it.
bool names_model(std::string_view text);
/// A config, the files of a checkpoint, or a folder that has them.
std::unique_ptr<ModelSource> file_source();

class Hub;

/// The model that the first source with the name `text` gives. The hub is asked last, and only for
/// names that it may have. Throws UnknownName with the nearest catalogue names, and HubError if the
/// hub does not answer. Throws NotDescribed if only counts and bytes of the model are known. Passes
/// on errors of the sources.
model::Model resolve_model(std::string_view text, const Hub& hub);
/// As above, with the hub of the process's environment.
model::Model resolve_model(std::string_view text);

struct Resolved {
  std::optional<model::Model> model;
  std::exception_ptr failure;  ///< why there is no model
};
/// The need of a command: a full description, or only counts and bytes. The headers of an
/// undescribed model give the latter too (Model::undescribed).
enum class Need { description, counts };
/// Resolves `texts` concurrently. Requests to the hub run in parallel, for any number of cores.
std::vector<Resolved> resolve_models(std::span<const std::string> texts, const Hub& hub,
                                     Need need = Need::description);

/// The model of a config's file in the catalogue: "Qwen/Qwen3-8B" of "Qwen__Qwen3-8B.json".
std::string model_name(std::string_view file);
/// Names of the catalogue, in the order of the alphabet. Need::counts: with heads that propose
/// tokens for another model, which are only counted.
std::vector<std::string> catalogue_models(Need need = Need::description);
/// Models of the catalogue with this class whose names pass `named`, in the same order. Others are
/// not described, which saves most of the time.
std::vector<model::Model> catalogue_models_of(std::string_view architecture,
                                              const std::function<bool(std::string_view)>& named);
/// Short names and what they stand for.
struct ShortName {
  std::string_view name, model;
};
std::span<const ShortName> short_names();

}  // namespace headroom::sweep
