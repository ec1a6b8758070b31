// One size under the names that different config classes give it.
#pragma once

#include "model/describe/config.hpp"

namespace headroom::model {

/// Throws ConfigError where `file` states a size only under names that its description does not
/// read. Else the default of the name that it reads would count as if the file said it. Call it
/// right after the model is described.
void refuse_unread_synonyms(const Config& file);

}  // namespace headroom::model
