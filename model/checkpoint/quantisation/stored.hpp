// Content of a checkpoint's tensor headers, in addition to its config.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/formats/compare.hpp"
#include "model/checkpoint/formats/logical.hpp"
#include "model/checkpoint/formats/tensor_header.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Detail of the files without reading weights.
enum class Detail {
  tensors,  ///< names, types and shapes: safetensors and GGUF headers
  names,    ///< names only: an index of pickled files
  size,     ///< only the size of a pickled file
};

struct Stored {
  Detail detail = Detail::tensors;
  TensorList list;          ///< `total`: tensor bytes, or file bytes if only sizes are known
  HeaderTotals totals;      ///< parameters and types; empty unless the detail is tensors
  Comparison comparison{};  ///< with the description; empty without one
  /// True if the checkpoint's own precision is the bytes of its tensors. False if the config states
  /// another plain type, to which engines convert at load time.
  bool keeps_checkpoint_formats = false;
  std::vector<std::string> notes{};
};

/// Compares `list` with `model`, as its config describes it. If the config states no type,
/// model.checkpoint_scheme follows the tensors' type.
void attach(Model& model, TensorList list, Detail detail);
/// For tensors already gathered under described names.
void attach(Model& model, TensorList list, std::vector<Gathered> gathered);

/// A model known by its headers only: tensors with shapes. `why` says why no config describes it
/// ("config.json: key 'architectures': 'X' is not described").
Model undescribed_model(std::string name, std::string architecture, TensorList list, Detail detail,
                        std::string source, std::string why);

/// True if tensors were read, and a config describes the model.
bool is_compared(const Model& model);
/// True if the checkpoint's tensors are not those that the config describes.
bool disagrees(const Model& model);
/// "config and tensors disagree: 3 missing, 1 unexpected"; empty where they agree, and where they
/// cannot be compared.
std::string disagreement(const Model& model);
/// "3 missing, 1 unexpected".
std::string kinds_of(const Comparison& comparison);

/// True if `scheme` stores `model` as its checkpoint does.
bool keeps_checkpoint_formats(const Model& model, const Scheme& scheme);
/// Writes the headers' formats and bytes into `tensors`, one entry for each tensor of model.part;
/// tied tensors take nothing. A tensor missing from the headers keeps its entry.
void apply_checkpoint_formats(const Model& model, std::vector<QuantisedTensor>& tensors);

}  // namespace headroom::model
