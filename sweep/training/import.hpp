// Training configurations of other programs as flags: transformers' TrainingArguments and DeepSpeed
// (JSON), LLaMA-Factory and accelerate (YAML).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

struct Imported {
  std::vector<std::string> taken;           ///< "batch 2 (per_device_train_batch_size)"
  std::vector<std::string> ignored;         ///< with the reason
  std::map<std::string, std::string> keys;  ///< "x.yaml: key 'optim'" by the flag that it gave
  /// `message`, with the file and the key in place of the flag that it begins with.
  std::string naming_key(const std::string& message) const;
};

/// Gives `options` what --from FILE says and the command line does not. Throws UsageError naming
/// the file and the key: it cannot be read, a value is not understood, or train_batch_size is not
/// replicas × batch × passes.
void import_training(Options& options, Imported& imported);

}  // namespace headroom::sweep
