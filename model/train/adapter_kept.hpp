// Activations that low-rank adapters keep for the backward pass.
#pragma once

#include "model/train/training.hpp"

namespace headroom::model {

/// Bytes a token that the adapters of all layers keep, of the vision tower or of the rest. 0
/// without adapters. For each module its input and the first factor's result (PEFT 0.21,
/// tuners/lora/layer.py, Linear.forward). Stacked experts: one row for each chosen expert. DoRA
/// also keeps the frozen layer's output, for the magnitude's gradient, and the factors' unscaled
/// result. Modules that one kernel runs together keep their common input, in 16 bit, and nothing
/// else (unsloth 2026.10 kernels/fast_lora.py, LoRA_QKV, LoRA_W and LoRA_MLP; gate and up are kept
/// by the layer).
double adapter_kept(const TrainingScenario& s, bool in_tower);

}  // namespace headroom::model
