// Output of `headroom params` in each format.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "report/table.hpp"
#include "sweep/options/adapter_options.hpp"

namespace headroom::sweep {

/// All known figures; null if unknown. A model that is not described has only counts, bytes and
/// types. Without headers, the figures of the checkpoint's tensors are null.
boost::json::object params_object(const model::Model& model, const Adapters& adapters);
std::string params_text(const model::Model& model, const Adapters& adapters);
/// One row a model.
report::Table params_table(const std::vector<model::Model>& models, const Adapters& adapters);

/// One row a tensor of the description with its entry in the checkpoint, then further tensors of
/// the checkpoint.
report::Table tensor_table(const std::vector<model::Model>& models);

}  // namespace headroom::sweep
