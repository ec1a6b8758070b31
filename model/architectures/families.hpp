// The functions behind the table of architectures: one per class, in one file per family.
//
// Each takes the config and returns the Part below the root module: NAME the causal language model,
// NAME_trunk its base model, without the head. Names, shapes and order are
// those of transformers 5.23 on the meta device, which tests/oracle/models_test.cpp compares with.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// bloom.cpp
Part bloom(const Config& c);
Part bloom_trunk(const Config& c);

// cohere.cpp
Part cohere(const Config& c);
Part cohere_trunk(const Config& c);
Part cohere2(const Config& c);
Part cohere2_trunk(const Config& c);

// falcon.cpp
Part falcon(const Config& c);
Part falcon_trunk(const Config& c);

// gemma.cpp
Part gemma(const Config& c);
Part gemma_trunk(const Config& c);
Part gemma2(const Config& c);
Part gemma2_trunk(const Config& c);
Part gemma3_text(const Config& c);
Part gemma3_trunk(const Config& c);

// glm.cpp
Part glm(const Config& c);
Part glm_trunk(const Config& c);

// gpt.cpp
Part gpt2(const Config& c);
Part gpt2_trunk(const Config& c);
Part gpt_bigcode(const Config& c);
Part gpt_bigcode_trunk(const Config& c);
Part gpt_neo(const Config& c);
Part gpt_neo_trunk(const Config& c);
Part gptj(const Config& c);
Part gptj_trunk(const Config& c);

// gpt_neox.cpp
Part gpt_neox(const Config& c);
Part gpt_neox_trunk(const Config& c);

// granite.cpp
Part granite(const Config& c);
Part granite_trunk(const Config& c);

// llama.cpp
Part llama(const Config& c);
Part llama_trunk(const Config& c);

// mistral.cpp
Part mistral(const Config& c);
Part mistral_trunk(const Config& c);

// mpt.cpp
Part mpt(const Config& c);
Part mpt_trunk(const Config& c);

// olmo.cpp
Part olmo(const Config& c);
Part olmo_trunk(const Config& c);
Part olmo2(const Config& c);
Part olmo2_trunk(const Config& c);
Part olmo3(const Config& c);
Part olmo3_trunk(const Config& c);

// opt.cpp
Part opt(const Config& c);
Part opt_trunk(const Config& c);

// phi.cpp
Part phi(const Config& c);
Part phi_trunk(const Config& c);
Part phi3(const Config& c);
Part phi3_trunk(const Config& c);

// qwen.cpp
Part qwen2(const Config& c);
Part qwen2_trunk(const Config& c);
Part qwen3(const Config& c);
Part qwen3_trunk(const Config& c);

// stablelm.cpp
Part stablelm(const Config& c);
Part stablelm_trunk(const Config& c);

// starcoder2.cpp
Part starcoder2(const Config& c);
Part starcoder2_trunk(const Config& c);

}  // namespace headroom::model::families
