// Further rows of schemes: layouts that checkpoints come in and that nobody is advised to make.
#pragma once

#include <span>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Groups, widths and companions that schemes() lacks: "gptq-int8-32g", "gptqmodel-int4",
/// "int4-64g-asymmetric-actorder". scheme(name) finds them; no command tries them on its own.
std::span<const Scheme> checkpoint_layouts();

}  // namespace headroom::model
