// The rows of vision-language models, one block per file of this folder.
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

std::span<const Architecture> vision_language_rows() { return {}; }

}  // namespace headroom::model::families
