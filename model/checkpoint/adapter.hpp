// Low-rank adapters (LoRA, arXiv:2106.09685; DoRA, arXiv:2402.09353) as PEFT applies them: which
// modules a list of targets selects, and how many parameters are trained.
//
// Source: PEFT 0.21 over transformers 5.23, tuners/tuners_utils.py, tuners/lora/layer.py and
// utils/transformers_weight_conversion.py. Every rule is checked against PEFT's own counts
// (tests/oracle/data/training/lora_counts.csv).
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// A target that does not exist or cannot be adapted. PEFT refuses it too.
class AdapterError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

struct AdapterRequest {
  Size rank = 8;
  /// Names of modules, or endings of their paths. A single text with any of *+?()[]|^$\ is a
  /// regular expression over whole paths. "all-linear" is every linear layer except the head.
  /// Empty: PEFT's default for the model's type.
  std::vector<std::string> targets{};
  bool magnitudes = false;  ///< DoRA: a trained magnitude for each output
};

/// A pair of factors: `copies` times [rank, in] and [out, rank].
struct AdaptedModule {
  std::string path;    ///< the module's path
  std::string tensor;  ///< the adapted tensor's name
  Size in = 0, out = 0, rank = 0, copies = 1;
  Size magnitudes = 0;
  /// copies * rank * (in + out) + magnitudes
  Size parameters() const { return copies * rank * (in + out) + magnitudes; }
};

struct Adapter {
  std::vector<std::string> targets;  ///< modules, as PEFT resolves them
  std::vector<std::string>
      parameters_targeted;  ///< tensors selected by name: stacked experts, routers
  std::vector<AdaptedModule> modules;
  Size parameters() const;
  Size magnitudes() const;
  /// Last names of both kinds of targets, without duplicates.
  std::vector<std::string> all_targets() const;
};

/// Throws AdapterError with the request, the available modules and what would have worked.
Adapter adapt(const Model& model, const AdapterRequest& request);

/// PEFT's default targets for a model of that type. Empty if it has no default. Source: PEFT 0.21,
/// utils/constants.py, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING.
std::vector<std::string> default_targets(std::string_view model_type);

}  // namespace headroom::model
