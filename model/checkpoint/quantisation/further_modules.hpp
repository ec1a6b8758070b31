// A model as its checkpoint stores it: with the modules that predict further tokens.
#pragma once

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// The model with its additional modules among its layers. Copies in them are stored again. A
/// module without a class of its own has that of its counterpart.
Model with_further_modules(const Model& model);

}  // namespace headroom::model
