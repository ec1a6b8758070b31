#include "model/train/optimizer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "hardware/names.hpp"
#include "model/train/optimizer_rules.hpp"

namespace headroom::model {
namespace {

/// Lower case with dashes, so that "AdamW_8bit" finds "adamw-8bit".
std::string plain(std::string_view name) {
  std::string text = lower(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// True if `name` is one of the row's names, or its class with or without the package.
bool is_called(const Optimizer& row, const std::string& name) {
  std::string_view rest = row.names;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == name) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}
bool is_class(const Optimizer& row, const std::string& name) {
  const std::string class_name = plain(row.class_name);
  return name == class_name || name == std::string(row.package) + '/' + class_name;
}

Shape shape_of(const StateRule& rule, const Shape& parameter, Size rank, Size dimension) {
  return rule.shape == nullptr ? parameter : rule.shape(parameter, rank, dimension);
}

Size elements(const Shape& s) {
  return std::accumulate(s.begin(), s.end(), Size{1}, std::multiplies<>{});
}

/// Bytes of the state tensor for a rule and dimension.
Bytes bytes_of_state(const Optimizer& row, const StateRule& rule, const Shape& parameter, Size i,
                     Size parameter_bytes) {
  const Shape held = rule.storage != nullptr ? rule.storage(parameter, row.rank, i)
                                             : shape_of(rule, parameter, row.rank, i);
  return bytes_of(rule.element, parameter_bytes) * Bytes(elements(held));
}

/// Calls `visit(rule, dimension)` for every state tensor.
template <class F>
void each_state(const Optimizer& row, const Shape& shape, Size bytes, F&& visit) {
  for (const StateRule& rule : row.states) {
    if (rule.kept != nullptr && !rule.kept(shape, bytes)) continue;
    const Size times =
        rule.counted == StateRule::For::each_dimension ? static_cast<Size>(shape.size()) : 1;
    for (Size i = 0; i < times; ++i) visit(rule, i);
  }
}

}  // namespace

std::span<const Optimizer> optimizers() {
  static const std::vector<Optimizer> all = [] {
    std::vector<Optimizer> rows;
    for (const auto table :
         {optimizer_rules::torch_optimizers(), optimizer_rules::quantised_optimizers(),
          optimizer_rules::collected_optimizers()})
      rows.insert(rows.end(), table.begin(), table.end());
    return rows;
  }();
  return all;
}

const Optimizer& optimizer(std::string_view name) {
  const std::string wanted = plain(name);
  for (const auto matches : {is_called, is_class})
    for (const Optimizer& row : optimizers())
      if (matches(row, wanted)) return row;
  std::vector<std::string> known;
  for (const Optimizer& row : optimizers())
    known.push_back(row.names.empty() ? std::string(row.package) + '/' + plain(row.class_name)
                                      : std::string(row.name()));
  throw unknown_name("optimizer", name, known);
}

bool steps_on_host(const Optimizer& row) {
  constexpr std::string_view names[] = {"adamw", "adamw-fused", "adamw-foreach", "adagrad"};
  return std::ranges::find(names, row.name()) != std::end(names);
}

Size bytes_of(StateElement element, Size parameter_bytes) {
  switch (element) {
    case StateElement::parameter:
      return parameter_bytes;
    case StateElement::fp32:
      return 4;
    case StateElement::bf16:
    case StateElement::fp16:
      return 2;
    case StateElement::fp8:
    case StateElement::int8:
    case StateElement::uint8:
    case StateElement::boolean:
      return 1;
  }
  return parameter_bytes;
}

std::vector<StateTensor> states_of(const Optimizer& row, const Shape& shape, Size parameter_bytes) {
  std::vector<StateTensor> all;
  each_state(row, shape, parameter_bytes, [&](const StateRule& rule, Size i) {
    std::string name(rule.name);
    if (const auto mark = name.find('#'); mark != std::string::npos)
      name.replace(mark, 1, std::to_string(i));
    all.push_back({std::move(name), shape_of(rule, shape, row.rank, i), rule.element,
                   bytes_of_state(row, rule, shape, i, parameter_bytes)});
  });
  return all;
}

Bytes state_bytes(const Optimizer& row, const Tensor& parameter, Size parameter_bytes) {
  const bool matrix = parameter.role == Role::matmul && parameter.shape.size() == 2;
  if (!row.others.empty() && !matrix)
    return state_bytes(optimizer(row.others), parameter, parameter_bytes);
  Bytes sum;
  each_state(row, parameter.shape, parameter_bytes, [&](const StateRule& rule, Size i) {
    if (rule.counted != StateRule::For::each_group)
      sum += bytes_of_state(row, rule, parameter.shape, i, parameter_bytes);
  });
  return sum;
}

Bytes optimizer_states(const Optimizer& row, const Part& part, Size parameter_bytes) {
  Bytes sum;
  for (const Tensor& tensor : part.tensors)
    if (tensor.is_parameter() && tensor.tied_to.empty())
      sum += state_bytes(row, tensor, parameter_bytes);
  return sum;
}

}  // namespace headroom::model
