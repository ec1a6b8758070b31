// The axes that are plain numbers, as one list: their key in a spec, their column in the database,
// and the field of a scenario that they set.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"
#include "sweep/spec.hpp"

namespace headroom::sweep {

struct NumberAxis {
  std::string_view key, column;
  std::vector<Size> GridSpec::*values;
  Size model::Scenario::*member;
};

/// In the order of their columns.
inline constexpr NumberAxis number_axes_table[] = {
    {"batches", "batch", &GridSpec::batches, &model::Scenario::batch},
    {"concurrencies", "concurrency", &GridSpec::concurrencies, &model::Scenario::concurrency},
    {"prompt_tokens", "prompt_tokens", &GridSpec::prompt_tokens, &model::Scenario::prompt_tokens},
    {"output_tokens", "output_tokens", &GridSpec::output_tokens, &model::Scenario::output_tokens},
    {"prompt_tokens_p95", "prompt_tokens_p95", &GridSpec::prompt_tokens_p95,
     &model::Scenario::prompt_tokens_p95},
    {"output_tokens_p95", "output_tokens_p95", &GridSpec::output_tokens_p95,
     &model::Scenario::output_tokens_p95},
    {"contexts", "context", &GridSpec::contexts, &model::Scenario::context},
    {"tp", "tensor_parallel", &GridSpec::tp, &model::Scenario::tensor_parallel},
    {"pp", "pipeline_parallel", &GridSpec::pp, &model::Scenario::pipeline_parallel},
    {"ep", "expert_parallel", &GridSpec::ep, &model::Scenario::expert_parallel},
    {"dp", "data_parallel", &GridSpec::dp, &model::Scenario::data_parallel},
};
constexpr std::span<const NumberAxis> number_axes() { return number_axes_table; }

/// The row of a spec's key; null where the axis is none of numbers.
constexpr const NumberAxis* find_number_axis(std::string_view key) {
  for (const NumberAxis& axis : number_axes_table)
    if (axis.key == key) return &axis;
  return nullptr;
}

}  // namespace headroom::sweep
