// Ministral 3: Mistral under its own class names.
#include "model/architectures/composition.hpp"
#include "model/architectures/families.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/ministral3/modeling_ministral3.py.
Part ministral3(const Config& c) { return renamed(mistral(c), "Mistral", "Ministral3"); }

}  // namespace headroom::model::families
