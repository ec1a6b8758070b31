// What the tables of published quantised models say, as models and schemes of ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "csv.hpp"
#include "model/quantisation.hpp"

namespace headroom::oracle {

/// The catalogue's stand-ins for published models: name in the tables → reference.
std::map<std::string, std::string> published_models();

/// The recipe of a row ("format", "quant", "notes") as the schemes that it can mean: two where it
/// does not say whether an importance matrix was used, none where it is not one of ours.
std::vector<const model::Scheme*> published_schemes(const Row& row);

/// Resolves references once each. Throws what sweep::resolve_model throws.
const model::Model& cached_model(const std::string& reference);

/// Parameters of what a row's file holds: a GGUF file has the language model alone, and scaling
/// factors of rotary frequencies.
Size published_parameters(const Row& row, const model::Model& m);

/// Whether a parameter count printed to four digits or more ("672.05B") is the model's: else the
/// file holds other tensors. Fewer digits say nothing.
bool same_parameters(const Row& row, const model::Model& m);

}  // namespace headroom::oracle
