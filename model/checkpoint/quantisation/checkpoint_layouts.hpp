// Additional schemes: layouts of existing checkpoints that headroom does not recommend.
#pragma once

#include <span>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Groups, widths and variants that schemes() lacks: "gptq-int8-32g", "gptqmodel-int4",
/// "int4-64g-asymmetric-actorder". scheme(name) finds them; no command tries them by itself.
std::span<const Scheme> checkpoint_layouts();

}  // namespace headroom::model
