#include "model/checkpoint/quantisation/matrix.hpp"

#include <algorithm>

#include "hardware/text.hpp"
#include "model/checkpoint/model.hpp"

namespace headroom::model {
namespace {

/// The last word of a tensor's name that is not "weight".
std::string_view last_word(std::string_view name) {
  if (name.ends_with(".weight")) name.remove_suffix(7);
  return name.substr(name.rfind('.') + 1);  // npos + 1 = 0: the whole name
}

/// Experts' second matrix, whose output is the residual stream.
bool projects_down(std::string_view name) {
  const std::string_view word = last_word(name);
  return word.starts_with("down") || word.starts_with("w2") || word.starts_with("output") ||
         word.starts_with("fc2");
}

}  // namespace

bool holds_gate_and_up(const Tensor& experts) {
  return experts.of > 1 && experts.shape.size() > 2 &&
         experts.name.find("gate_up") != std::string::npos;
}

MatrixReader::MatrixReader(const Model& model) : model_(model) {
  classes_.reserve(model.part.modules.size());
  for (const Module& module : model.part.modules) classes_.emplace(module.path, module.class_name);
  for (const Tensor& tensor : model.part.tensors)
    if (tensor.role == Role::bias) biased_.insert(tensor.module());
}

MatrixReader::MatrixReader(const Model& model, const Repeats& repeats) : model_(model) {
  const Part& part = model.part;
  for (std::size_t i = 0; i < part.modules.size(); ++i)
    if (repeats.is_first_module(i))
      classes_.emplace(part.modules[i].path, part.modules[i].class_name);
  for (std::size_t i = 0; i < part.tensors.size(); ++i)
    if (part.tensors[i].role == Role::bias && repeats.first_tensor(i) == i)
      biased_.insert(part.tensors[i].module());
}

std::string_view MatrixReader::class_of(std::string_view module_path) const {
  const auto it = classes_.find(module_path);
  return it == classes_.end() ? std::string_view{} : it->second;
}

bool MatrixReader::is_expert(const Tensor& tensor) const {
  return tensor.of > 1 && tensor.role == Role::matmul && tensor.shape.size() >= 2;
}

bool MatrixReader::is_linear(const Tensor& tensor) const {
  return is_expert(tensor) || is_module(tensor);
}

bool MatrixReader::is_module(const Tensor& tensor) const {
  if (tensor.role != Role::matmul || tensor.shape.size() != 2) return false;
  return ends_with_any(class_of(tensor.module()), {"Linear", "Conv1D"});
}

std::optional<Matrix> MatrixReader::matrix(const Tensor& tensor) const {
  const Shape& shape = tensor.shape;
  if (shape.size() < 2) return std::nullopt;
  Matrix m{1, shape[shape.size() - 2], shape.back()};
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) m.count *= shape[i];
  if (m.out == 0 || m.in == 0) return std::nullopt;
  m.biased = biased_.contains(tensor.module());
  if (is_expert(tensor)) {
    if (shape.size() == 2 && m.out % tensor.of == 0) {  // one below the other (DBRX)
      m.count = tensor.of;
      m.out /= tensor.of;
    }
    const Size hidden = model_.shape.hidden_size;
    const bool down = projects_down(tensor.name);
    const Size residual_side = down ? m.out : m.in, other_side = down ? m.in : m.out;
    if (residual_side != hidden && other_side == hidden) std::swap(m.out, m.in);
  } else if (class_of(tensor.module()) == "Conv1D") {
    std::swap(m.out, m.in);
  }
  return m;
}

}  // namespace headroom::model
