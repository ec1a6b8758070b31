// Identifies matrices among tensors, and their orientation. Every quantisation starts from it.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// True for experts whose gate and up matrices form one tensor in memory. Files keep them apart.
bool holds_gate_and_up(const Tensor& experts);

/// Reads the rows of one model's Part. Keeps references: the model must outlive it.
class MatrixReader {
 public:
  explicit MatrixReader(const Model& model);
  /// `repeats`: of the model. Only for tensors that repeat none of an earlier layer.
  MatrixReader(const Model& model, const Repeats& repeats);

  /// The matrices that `tensor` holds. Empty if it is not a matrix.
  ///
  /// Stored as [..., out, in]. Transposed for GPT-2's Conv1D, and for stacked experts whose
  /// residual width is on the other side (gpt-oss and Llama-4 store [experts, in, out]).
  std::optional<Matrix> matrix(const Tensor& tensor) const;

  /// True for the weight of a linear layer or of experts, except the head. Routers are not Linear
  /// in transformers 5, so they do not count.
  bool is_linear(const Tensor& tensor) const;
  bool is_expert(const Tensor& tensor) const;
  /// True for the weight of a module of its own. Experts that one parameter stacks are none.
  bool is_module(const Tensor& tensor) const;

  std::string_view class_of(std::string_view module_path) const;

 private:
  const Model& model_;
  std::unordered_map<std::string_view, std::string_view> classes_;
  std::unordered_set<std::string_view> biased_;
};

}  // namespace headroom::model
