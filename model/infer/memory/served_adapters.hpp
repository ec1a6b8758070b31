// Low-rank adapters that an engine serves beside a model.
#pragma once

#include "model/checkpoint/adapter.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

struct ServedAdapters {
  Size count = 1;  ///< in memory at once
  AdapterRequest request{};
};

/// `weights` with the adapters beside the matrices that they adapt.
///
///   loaded  count * sum over adapted modules of rank * (in + out) * element
///   slots   count * sum over the linear layers of the decoder of
///           rank * (slices * in + out) * element
///
/// element: bytes, as the engine's row has them; slices: matrices that are one in memory, each with
/// an inner factor of its own. Of several cards that divide a matrix by its outputs each holds the
/// inner factors whole, of those that divide it by its inputs the outer ones. A pass reads no more
/// of them than there are sequences. Source: vLLM 0.19 lora/layers/base_linear.py,
/// column_parallel_linear.py and fused_moe.py create_lora_weights, without fully_sharded_loras;
/// PEFT 0.21 tuners/lora/layer.py; llama.cpp src/llama-adapter.cpp. Left out: what multiplying with
/// them takes.
///
/// adapters_most adds, of slots, those beside the embedding and the head, which some models'
/// classes ask for: count * 2 * rank * (vocabulary + hidden) * element, whole on each card (vLLM
/// 0.19 lora/layers/vocal_parallel_embedding.py, logits_processor.py). Throws AdapterError: targets
/// that are not there or outside the layers, a rank that the engine has no slots of, an engine
/// whose adapters are not described.
QuantisedModel with_adapters(const QuantisedModel& weights, const Engine& runtime,
                             const ServedAdapters& adapters, Size batch);

}  // namespace headroom::model
