// One training step as flags describe it, with everything that it points to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "model/train/training.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Flags of a training step, and those of what estimates it further.
#define HEADROOM_STEP_FLAGS                                                              \
  "grad-accum zero checkpointing recipe optimizer fused-loss liger "                     \
  "offload-optimizer offload-params no-zero3-init attention mixed-precision cp "         \
  "virtual-stages sequence-parallel expert-imbalance "                                   \
  "grad-ckpt-reduction attn-act-factor-fa attn-act-factor-no-fa "                        \
  "mlp-act-factor logits-factor fragmentation-gib misc-overhead-gib lora "               \
  "qlora base-precision lora-rank lora-alpha lora-targets dora modules-to-save compile " \
  "from token-budget packing freeze-vision-tower"
/// Flags that mean something for training alone.
#define HEADROOM_TRAINING_FLAGS HEADROOM_STEP_FLAGS " probe warmup-steps probe-steps estimate-only"

/// A scenario and what its pointers point to.
struct GivenTraining {
  std::unique_ptr<model::Model> model;
  std::unique_ptr<model::QuantisedModel> plain, base;
  std::unique_ptr<model::Adapter> adapter;
  std::optional<Machine> machine;
  Size token_budget = 0;  ///< tokens to train on; 0: not asked

  std::string precision;            ///< type of products, as given: "bf16"
  model::AdapterRequest adapters;   ///< with an adapter: its request
  Size lora_alpha = 16;             ///< with an adapter: its scale is alpha / rank
  std::vector<std::string> copies;  ///< with an adapter: modules trained in full

  std::vector<std::string>
      from_file;  ///< flags that --from gave: "--batch 2 (per_device_batch_size)"
  std::vector<std::string> assumed;
  std::string ignored, ignored_in_short;  ///< keys of --from that nothing reads; empty: none
  std::string probe;  ///< the command that measures the step; empty: not asked for
  model::TrainingScenario scenario;
};

/// Throws UsageError, and what looking names up throws.
GivenTraining training_of(const Options& given_options);

/// Throws UsageError where a flag of training is given to another task: it would have no effect.
void refuse_training_flags(const Options& options);

/// --factors FILE (TOML: key = number), --set KEY=NUMBER and the flags that stand for one key,
/// later ones over earlier ones. Throws UsageError naming the file, the line and the key.
model::Factors factors_of(const Options& options);

/// headroom estimate --task training.
int estimate_training(const Options& options);

}  // namespace headroom::sweep
