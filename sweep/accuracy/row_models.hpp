// Models of canonical rows: by reference, each resolved once.
#pragma once

#include <map>
#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::sweep {

/// A user's folder of configs (NAME.json, or NAME/config.json) comes before the catalogue.
class RowModels {
 public:
  /// Throws std::runtime_error for what is no folder. Empty: none.
  explicit RowModels(std::string folder);
  /// Throws Skipped.
  const model::Model& model(const std::string& reference);

 private:
  std::string folder_;
  std::map<std::string, model::Model> models_;
};

}  // namespace headroom::sweep
