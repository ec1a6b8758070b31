#include "sweep/accuracy/row_models.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "hardware/names.hpp"
#include "model/describe/config.hpp"
#include "sweep/accuracy/measurement.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace fs = std::filesystem;

RowModels::RowModels(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty() && !fs::is_directory(folder_))
    throw std::runtime_error(folder_ + ": not a folder of configs");
}

const model::Model& RowModels::model(const std::string& reference) {
  if (const auto it = models_.find(reference); it != models_.end()) return it->second;
  std::string place = reference;
  for (const std::string ending : {".json", "/config.json"})
    if (const fs::path own = folder_ + '/' + reference + ending;
        !folder_.empty() && fs::exists(own))
      place = own.string();
  try {
    return models_.emplace(reference, resolve_model(place)).first->second;
  } catch (const model::ConfigError& e) {
    throw Skipped(Skip::model, e.what());
  } catch (const UnknownName& e) {
    throw Skipped(Skip::model, fmt::format("no config of '{}': {}", reference, e.what()));
  }
}

}  // namespace headroom::sweep
