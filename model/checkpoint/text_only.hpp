// A vision-language or audio model without its towers, as engines load it for text alone.
#pragma once

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// True if `model` has towers of images or sound next to a decoder that works without them.
bool has_towers(const Model& model);

/// `model` without towers, projectors and their caches. vLLM 0.33 interfaces.py _mark_tower_model
/// builds neither where the limits of all modalities are 0 (--language-model-only); SGLang 0.5.23
/// arg_groups/model_hook.py handle_language_model_only; llama.cpp loads no mmproj file
/// (--no-mmproj).
Model without_towers(const Model& model);

}  // namespace headroom::model
