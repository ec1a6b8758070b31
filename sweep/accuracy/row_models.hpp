// Models of canonical rows: by reference, each resolved once.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::sweep {

/// The config of `name` in a user's folder: NAME.json, or NAME/config.json. Nothing: the folder has
/// none, or there is no folder (empty).
std::optional<std::filesystem::path> own_config(const std::string& folder, const std::string& name);

/// A user's folder of configs comes before the catalogue.
class RowModels {
 public:
  /// Throws std::runtime_error for what is no folder. Empty: none.
  explicit RowModels(std::string folder);
  /// Throws Skipped.
  const model::Model& model(const std::string& reference);
  /// The model without its towers of images and sound. Throws Skipped.
  const model::Model& text_model(const std::string& reference);

 private:
  std::string folder_;
  std::map<std::string, model::Model> models_, text_models_;
};

}  // namespace headroom::sweep
