// The catalogue of models as a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/table.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/screen/listing.hpp"

namespace headroom::sweep {

/// A model that was looked up.
struct LookedUp {
  std::string name;
  std::optional<model::Model> model;
  std::string problem;  ///< why there is no model
};
std::vector<LookedUp> look_up_all(const std::vector<std::string>& names, const Hub& hub);

/// The catalogue's models and short names whose name or class has each of `words` in it, in any
/// case. Throws UsageError with the nearest names where there is none.
struct ModelList {
  std::vector<LookedUp> models;
  std::vector<ShortName> short_names;
};
ModelList listed_models(const std::vector<std::string>& words, const Hub& hub);

/// Every figure of a list, for programs.
report::Table model_table(const ModelList& list);
/// A list for people.
std::string model_lines(const ModelList& list, ListLength shown, std::string_view asked);
/// Numbers of models by maker, and how to search.
std::string model_overview();

}  // namespace headroom::sweep
