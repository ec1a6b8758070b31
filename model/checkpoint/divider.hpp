// How each tensor of a model is divided among the cards of a tensor-parallel group.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/shards.hpp"

namespace headroom::model {

struct TensorIndex;

/// Classifies the tensors of a model, and records in `shards` which sizes the number of cards must
/// divide. Keeps references: all arguments must outlive it.
class Divider {
 public:
  Divider(const Model& model, const Scheme& scheme, Shards& shards);
  /// Only for tensors that repeat none of an earlier layer.
  Divider(const TensorIndex& index, const Scheme& scheme, Shards& shards);
  /// Divides the bytes of `tensor`, a tensor of `layer` (null: outside all layers).
  Divided divide(const Tensor& tensor, const QuantisedTensor& quantised, const Layer* layer);
  /// Divides low-rank factors of the matrix `tensor`: `inner` bytes of the factors applied to
  /// inputs, and `outer` bytes of the factors that produce outputs. If the matrix's outputs are
  /// divided, each card has all inner factors. If its inputs are divided, each has all outer ones.
  Divided divide_factors(const Tensor& tensor, Bytes inner, Bytes outer, const Layer* layer) const;

 private:
  Divided linear(const Tensor& tensor, const QuantisedTensor& quantised, const Layer* layer);
  Divided bias(const Tensor& tensor, const QuantisedTensor& quantised, const Layer* layer) const;
  Divided by_class(std::string_view module, Bytes bytes, const Layer* layer) const;
  bool is_last(std::string_view module) const;
  bool is_strided(bool by_inputs) const;
  void constrain(const Tensor& tensor, const QuantisedTensor& quantised, bool row);
  void constrain_expert(const Matrix& matrix, bool is_quantised);
  void include_groups(Size& divisor, Size width) const;
  void add_sizes();
  void add_name(const Tensor& tensor);

  const Model& model_;
  const Scheme& scheme_;
  std::optional<MatrixReader> own_reader_;  ///< unless an index has one
  const MatrixReader& reader_;
  Shards& shards_;
  std::unordered_map<std::string_view, std::string_view> last_;  ///< name by scope
  std::vector<std::string_view> heads_;                          ///< output projections
};

}  // namespace headroom::model
