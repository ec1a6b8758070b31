// Training configurations of other programs as flags: transformers' TrainingArguments and DeepSpeed
// (JSON), LLaMA-Factory, axolotl and accelerate (YAML).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// A key that becomes no flag.
struct Ignored {
  enum class Matters : std::uint8_t { no, yes };
  std::string key, why;
  Matters matters;  ///< yes: the estimate might change if it were read
};

struct Imported {
  std::vector<std::string> taken;  ///< "batch 2 (per_device_train_batch_size)"
  std::vector<Ignored> ignored;
  std::map<std::string, std::string> keys;  ///< "x.yaml: key 'optim'" by the flag that it gave
  bool freezes_tower = false;               ///< the vision tower, if the model has one
  bool loads_as_stored = false;  ///< nothing raises or lowers the checkpoint's type of weights
  /// `message`, with the file and the key in place of the flag that it begins with.
  std::string naming_key(const std::string& message) const;
  /// "ignored in the file: key (why), …"; with few words the number and the keys that matter.
  std::string every_ignored() const;
  std::string ignored_in_short() const;
};

/// Gives `options` what --from FILE says and the command line does not. Throws UsageError naming
/// the file and the key: it cannot be read, a value is not understood, or train_batch_size is not
/// replicas × batch × passes.
void import_training(Options& options, Imported& imported);

}  // namespace headroom::sweep
