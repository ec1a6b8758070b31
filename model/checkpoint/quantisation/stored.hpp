// What the files of a checkpoint themselves say of its tensors, beside what its config describes.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/formats/compare.hpp"
#include "model/checkpoint/formats/logical.hpp"
#include "model/checkpoint/formats/tensor_header.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// How much the files say without weights being read.
enum class Detail {
  tensors,  ///< names, types and shapes: safetensors and GGUF headers
  names,    ///< names alone: an index of pickled files
  size,     ///< nothing but the size of a pickled file
};

struct Stored {
  Detail detail = Detail::tensors;
  TensorList list;      ///< `total`: bytes of the tensors; of the files where only sizes are known
  HeaderTotals totals;  ///< parameters and types; empty unless the detail is tensors
  Comparison comparison{};  ///< with the description; empty where there is none
  /// Whether the checkpoint's own precision is the bytes of its tensors. Not where the config says
  /// another plain type than theirs, to which runtimes convert when they load.
  bool held_as_stored = false;
  std::vector<std::string> notes{};
};

/// Holds `list` against `model`, whose config described it. A config that says no type gets the
/// type of the tensors: model.checkpoint_scheme then follows them.
void attach(Model& model, TensorList list, Detail detail);
/// The same where the tensors are gathered under names of the description already.
void attach(Model& model, TensorList list, std::vector<Gathered> gathered);

/// A model of which only headers are known: tensors with their shapes, and no more. `why` no config
/// describes it ("config.json: key 'architectures': 'X' is not described").
Model undescribed_model(std::string name, std::string architecture, TensorList list, Detail detail,
                        std::string source, std::string why);

/// Whether `scheme` holds `model` as its checkpoint's tensors are.
bool held_as_stored(const Model& model, const Scheme& scheme);
/// Puts what the headers say of each tensor into `tensors`, one for each tensor of model.part, tied
/// ones taking nothing. Where nothing stands for a tensor, what is there stays.
void hold_as_stored(const Model& model, std::vector<QuantisedTensor>& tensors);

}  // namespace headroom::model
