// How sources of measurements write the names of models, cards, precisions and engines, and what
// those are here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

/// Why a measurement is not scored: a closed list. None depends on how large the error would be.
enum class Skip {
  grade,          ///< grade C: the set-up is incomplete
  task,           ///< a task that is not estimated
  model,          ///< a model without a config, or whose architecture is not described
  device,         ///< a card, or a CPU where it computes, that the catalogue does not have
  precision,      ///< a way to hold weights that is not one of schemes(), or that is not stated
  runtime,        ///< an engine that is not one of runtimes()
  setting,        ///< a setting that decides the figure is not stated
  feature,        ///< a feature that no formula covers (speculative decoding, networked parts)
  statistic,      ///< a figure that no estimate gives
  capacity,       ///< more bytes on the cards than the cards have: their number is not what it says
  digits,         ///< one significant digit: the rounding is larger than the errors looked for
  contradiction,  ///< another row of the source does more in half the time
  memory_rate,    ///< the weights alone take longer to read from the memories that they are in
};
std::string_view name_of(Skip reason);

/// Thrown while a measurement is read; `what()` says what was found.
struct Skipped : std::runtime_error {
  Skipped(Skip why, const std::string& detail) : std::runtime_error(detail), reason(why) {}
  Skip reason;
};

/// Where models come from: the user's folder (config.json files, or folders of them, named after
/// the model), then names as sources write them, then the catalogue.
class ModelNames {
 public:
  /// Throws std::runtime_error for a folder that cannot be read. Empty: none.
  explicit ModelNames(const std::string& folder);
  /// Resolves each name once. Throws Skipped.
  const model::Model& model(const std::string& name);
  /// The same, or the checkpoint in that precision where one is published under its name.
  const model::Model& model(const std::string& name, const std::string& precision);

 private:
  std::string reference_of(const std::string& name) const;
  std::map<std::string, std::string> files_;  ///< plain name → path
  std::map<std::string, model::Model> models_;
};
/// A name without what differs between spellings of it: "Meta-Llama-3-8B" is "llama38b".
std::string plain_name(std::string_view name);

/// What an engine's published figures mean beside its policies.
struct EngineName {
  std::string_view starts;   ///< what the setting "framework" starts with, in lower case
  std::string_view runtime;  ///< a row of runtimes(); empty: none
  double gigabyte;           ///< bytes of a "GB" that it prints
  bool allocator;            ///< memory as PyTorch's allocator counts it, else as the driver does
  int prompt_tokens, output_tokens;  ///< of its script where the source does not say; 0: not known
  bool host_experts = false;         ///< runs with experts in host memory unless told otherwise
  bool cache_of_output = false;      ///< its script reserves caches for the tokens it generates
};
/// Throws Skipped.
const EngineName& engine_of(const Measurement& row);
/// The row of runtimes() for the version that the settings name, where an engine has several.
std::string_view version_of(const Measurement& row, std::string_view runtime);

/// "fa=1", "fa", "no flash attention"; "threads=16", "16 threads", 0 where there is neither.
model::Override flash_attention_of(const Measurement& row);
Size threads_of(const Measurement& row);

/// Throws Skipped.
const model::Scheme& scheme_of(const Measurement& row, const model::Model& model,
                               const model::Engine& runtime);

/// Cards and host of a row. Throws Skipped.
Machine machine_of(const Measurement& row);
/// Its host alone; what the row does not say is 0: not known.
Host host_of(const Measurement& row);
/// Whether the row says how fast the host's memory is; else it is as fast as the processor's maker
/// allows, all channels filled.
bool states_memory_bandwidth(const Measurement& row);
/// Cards without limits.
Machine any_machine(int cards);

}  // namespace headroom::sweep
