// Facts about a model, for params_*.cpp only.
#pragma once

#include <optional>

#include "model/checkpoint/quantisation/stored.hpp"
#include "sweep/screen/params_output.hpp"

namespace headroom::sweep {

inline bool is_described(const model::Model& model) { return model.undescribed.empty(); }

/// Nothing where only the size of a file is known.
inline std::optional<Size> parameters_of(const model::Model& model) {
  const bool unknown = !is_described(model) && model.stored->detail != model::Detail::tensors;
  return unknown ? std::nullopt : std::optional(model.profile.parameters);
}

/// The tensors that the checkpoint holds, by type; null where no header was read.
inline const model::HeaderTotals* stored_totals(const model::Model& model) {
  const bool known = model.stored && model.stored->detail == model::Detail::tensors;
  return known ? &model.stored->totals : nullptr;
}

}  // namespace headroom::sweep
