#include "sweep/accuracy/row_models.hpp"

#include <fmt/format.h>

#include "hardware/names.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/describe/config.hpp"
#include "sweep/accuracy/measurement.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace fs = std::filesystem;

std::optional<fs::path> own_config(const std::string& folder, const std::string& name) {
  if (folder.empty()) return std::nullopt;
  for (const std::string ending : {"/config.json", ".json"})
    if (const fs::path own = folder + '/' + name + ending; fs::exists(own)) return own;
  return std::nullopt;
}

RowModels::RowModels(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty() && !fs::is_directory(folder_))
    throw std::runtime_error(folder_ + ": not a folder of configs");
}

const model::Model& RowModels::model(const std::string& reference) {
  if (const auto it = models_.find(reference); it != models_.end()) return it->second;
  const auto own = own_config(folder_, reference);
  try {
    return models_.emplace(reference, resolve_model(own ? own->string() : reference)).first->second;
  } catch (const model::ConfigError& e) {
    throw Skipped(Skip::model, e.what());
  } catch (const UnknownName& e) {
    throw Skipped(Skip::model, fmt::format("no config of '{}': {}", reference, e.what()));
  }
}

const model::Model& RowModels::text_model(const std::string& reference) {
  const model::Model& whole = model(reference);
  if (!has_towers(whole)) return whole;
  if (const auto it = text_models_.find(reference); it != text_models_.end()) return it->second;
  return text_models_.emplace(reference, without_towers(whole)).first->second;
}

}  // namespace headroom::sweep
