// The table of activation names. Source: transformers 5.23, activations.py, ACT2CLS.
#include "model/describe/activation_function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/names.hpp"

namespace headroom::model {

namespace {

struct ActivationRow {
  std::string_view name, class_name;
};
constexpr ActivationRow activation_rows[] = {
    {"gelu", "GELUActivation"},
    {"gelu_10", "ClippedGELUActivation"},
    {"gelu_accurate", "AccurateGELUActivation"},
    {"gelu_fast", "FastGELUActivation"},
    {"gelu_new", "NewGELUActivation"},
    {"gelu_python", "GELUActivation"},
    {"gelu_python_tanh", "GELUTanh"},
    {"gelu_pytorch_tanh", "GELUTanh"},
    {"hardswish", "Hardswish"},
    {"laplace", "LaplaceActivation"},
    {"leaky_relu", "LeakyReLU"},
    {"linear", "LinearActivation"},
    {"mish", "MishActivation"},
    {"quick_gelu", "QuickGELUActivation"},
    {"relu", "ReLU"},
    {"relu2", "ReLUSquaredActivation"},
    {"relu6", "ReLU6"},
    {"sigmoid", "Sigmoid"},
    {"silu", "SiLUActivation"},
    {"sqrtsoftplus", "SqrtSoftplusActivation"},
    {"swish", "SiLU"},
    {"tanh", "Tanh"},
};

}  // namespace

std::string_view activation_class(std::string_view name) {
  const auto* row = std::find_if(std::begin(activation_rows), std::end(activation_rows),
                                 [&](const ActivationRow& r) { return r.name == name; });
  return row == std::end(activation_rows) ? std::string_view{} : row->class_name;
}

std::string activation_names() {
  std::vector<std::string_view> names;
  for (const ActivationRow& row : activation_rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string activation_class(const Config& c, Config::Keys keys, std::string_view fallback) {
  const std::string name = c.text(keys, fallback);
  const std::string_view found = activation_class(name);
  if (!found.empty()) return std::string(found);
  std::vector<std::string> known;
  for (const ActivationRow& row : activation_rows) known.emplace_back(row.name);
  c.fail(*keys.begin(), fmt::format("unknown activation '{}'; nearest: {}", name,
                                    fmt::join(nearest(name, known), ", ")));
}

}  // namespace headroom::model
