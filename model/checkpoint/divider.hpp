// Which way each tensor of a model is divided among the cards of a tensor-parallel group.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/shards.hpp"

namespace headroom::model {

/// Sorts the tensors of one model, and notes in `shards` what the number of cards has to divide.
/// Keeps references: all must outlive it.
class Divider {
 public:
  Divider(const Model& model, const Scheme& scheme, Shards& shards);
  /// The bytes of `tensor`, which lies in `layer` (null: outside all).
  Divided divide(const Tensor& tensor, const QuantisedTensor& held, const Layer* layer);
  /// Low-rank factors beside the matrix that `tensor` holds, `inner` bytes of those that its inputs
  /// are multiplied by and `outer` bytes of those that give its outputs. Where the outputs are
  /// divided the inner ones are whole on each card, where the inputs are the outer ones.
  Divided divide_factors(const Tensor& tensor, Bytes inner, Bytes outer, const Layer* layer) const;

 private:
  Divided linear(const Tensor& tensor, const QuantisedTensor& held, const Layer* layer);
  Divided bias(const Tensor& tensor, const QuantisedTensor& held, const Layer* layer) const;
  Divided by_class(std::string_view module, Bytes bytes, const Layer* layer) const;
  bool is_last(std::string_view module) const;
  void constrain(const Tensor& tensor, const QuantisedTensor& held, bool row);
  void constrain_expert(const Matrix& matrix, bool quantised);
  void include_groups(Size& divisor, Size width) const;

  const Model& model_;
  const Scheme& scheme_;
  MatrixReader reader_;
  Shards& shards_;
  std::unordered_map<std::string_view, std::string_view> last_;  ///< of each scope
  std::vector<std::string_view> heads_;                          ///< output projections
};

}  // namespace headroom::model
