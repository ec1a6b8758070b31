// An index of a model's tensors that all schemes share.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Keeps a reference: the model must outlive it. Not for several threads at once.
struct TensorIndex {
  explicit TensorIndex(const Model& of)
      : model(of), repeats(checked(of)), reader(of, repeats), exceptions(of) {}
  /// The layer of a tensor. Null outside all layers.
  const Layer* layer(std::size_t tensor) const {
    const Size block = repeats.blocks()[tensor];
    return block < 0 ? nullptr : &model.profile.layers[static_cast<std::size_t>(block)];
  }

  const Model& model;
  const Repeats& repeats;
  MatrixReader reader;    ///< for tensors that repeat none
  Exceptions exceptions;  ///< to the checkpoint's scheme

 private:
  /// Throws std::logic_error where tensors were added or erased after the profile was made.
  static const Repeats& checked(const Model& of) {
    if (of.profile.repeats.blocks().size() != of.part.tensors.size())
      throw std::logic_error(of.name + ": its profile is of other tensors");
    return of.profile.repeats;
  }
};

/// As refusal() and quantised_tensors() of the model, without its throwing: the scheme must not be
/// refused.
std::string refusal(const TensorIndex& index, const Scheme& scheme);
std::vector<QuantisedTensor> quantised_tensors(const TensorIndex& index, const Scheme& scheme);
/// As quantise(), for several schemes of one model.
QuantisedModel quantise(const TensorIndex& index, const Scheme& scheme);
/// As above, without a look at the files' own formats, which only the time of loading needs.
QuantisedModel quantise_alone(const TensorIndex& index, const Scheme& scheme);

}  // namespace headroom::model
