// Low-rank adapters that an engine serves with a model.
#pragma once

#include "model/checkpoint/adapter.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

struct ServedAdapters {
  Size count = 1;  ///< in memory
  AdapterRequest request{};
};

/// `weights` with adapters added to the matrices that they adapt.
///
///   loaded  count * sum over adapted modules of rank * (in + out) * element
///   slots   count * sum over the linear layers of the decoder of
///           rank * (slices * in + out) * element
///
/// element: bytes, from the engine's row. slices: matrices fused in memory, each with its own inner
/// factor. Cards that divide a matrix by outputs each have the complete inner factors. Cards that
/// divide it by inputs each have the complete outer ones. A pass reads at most one adapter for each
/// sequence. Source: vLLM 0.19 lora/layers/base_linear.py, column_parallel_linear.py and
/// fused_moe.py create_lora_weights, without fully_sharded_loras; PEFT 0.21 tuners/lora/layer.py;
/// llama.cpp src/llama-adapter.cpp. Left out: the time of their products.
///
/// adapters_most adds slots for the embedding and the head, which some models' classes request:
/// count * 2 * rank * (vocabulary + hidden) * element, complete on each card (vLLM 0.19
/// lora/layers/vocal_parallel_embedding.py, logits_processor.py). Throws AdapterError for targets
/// that are missing or outside the layers, a rank without slots, and an engine without a
/// description of adapters.
QuantisedModel with_adapters(const QuantisedModel& weights, const Engine& runtime,
                             const ServedAdapters& adapters, Size batch);

}  // namespace headroom::model
