// Tables of published quantised models, as models and schemes of ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "csv.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::oracle {

/// The catalogue's stand-ins for published models: name in the tables → reference.
std::map<std::string, std::string> published_models();

/// The canonical rows of tests/accuracy/quantised_sizes.csv by id.
std::map<std::string, Row> canonical_sizes();

/// As sweep/accuracy/published_sizes.hpp has them, of a canonical row.
std::vector<const model::Scheme*> published_schemes(const Row& row);
Size published_parameters(const Row& row, const model::Model& m);

/// Resolves references once each. Throws what sweep::resolve_model throws.
const model::Model& cached_model(const std::string& reference);

/// Half a unit of the last printed digit.
double rounding(const std::string& printed);

/// True if a parameter count printed to four digits or more ("672.05B") is the model's. Otherwise
/// the file holds other tensors. Fewer digits say nothing. `row`: canonical.
bool same_parameters(const std::string& printed, const Row& row, const model::Model& m);

}  // namespace headroom::oracle
