// Which tensors are matrices, and which way round they lie: what every quantisation starts from.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Reads the rows of one model's Part. Keeps references: the model must outlive it.
class MatrixReader {
 public:
  explicit MatrixReader(const Model& model);

  /// The matrices that `tensor` holds; none where it is not a matrix.
  ///
  /// Stored [..., out, in]. Turned round where the module is GPT-2's Conv1D, and where stacked
  /// experts have the residual width on the side on which the other orientation has it (gpt-oss and
  /// Llama-4 store [experts, in, out]).
  std::optional<Matrix> matrix(const Tensor& tensor) const;

  /// The weight of a linear layer or of experts, the head left out. Routers are classes of their
  /// own in transformers 5, not Linear, and stay.
  bool is_linear(const Tensor& tensor) const;
  bool is_expert(const Tensor& tensor) const;

  std::string_view class_of(std::string_view module_path) const;

 private:
  const Model& model_;
  std::unordered_map<std::string_view, std::string_view> classes_;
  std::unordered_set<std::string_view> biased_;
};

}  // namespace headroom::model
