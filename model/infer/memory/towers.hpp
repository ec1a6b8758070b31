// Working memory of towers of images.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Peak bytes of the vision tower on one of `shards` cards:
///
///   patches * (residual_copies * hidden + widest_share * widest / shards) * element
///
/// patches: those of all images of all sequences. With chunked prefill, images are encoded when
/// they are reached, so one sequence counts. The engine's pass at start is the minimum. It has as
/// many of the largest images as a pass has tokens for, at least one, and keeps their embeddings
/// during that pass (vLLM 0.11 v1/worker/gpu_model_runner.py profile_run,
/// v1/core/encoder_cache_manager.py compute_encoder_budget). hidden and widest: of the tower.
/// Source: as activations (activation.hpp). Left out: windows, the resampled pixels, rotated copies
/// in fp32, features of several layers that are kept (Llama-3.2-Vision).
Bytes tower_activations(const Scenario& scenario, Size shards);

/// Bytes of the image embeddings of an engine's pass at start, which stay until its end. Some
/// models add further vectors to deeper layers (vLLM 0.33 models/qwen3_vl.py, out_hidden_size).
double embeddings_of_images(const Scenario& scenario);

}  // namespace headroom::model
