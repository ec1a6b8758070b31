// The functions behind the table of architectures: one per class, in one file per family.
//
// Each takes the config and returns the Part below the root module: NAME the causal language model,
// NAME_trunk its base model, without the head. Names, shapes and order are
// those of transformers 5.23 on the meta device, which tests/oracle/models_test.cpp compares with.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// apertus.cpp
Part apertus(const Config& c);
Part apertus_trunk(const Config& c);

// arcee.cpp
Part arcee(const Config& c);
Part arcee_trunk(const Config& c);

// biogpt.cpp
Part biogpt(const Config& c);
Part biogpt_trunk(const Config& c);
Part xglm(const Config& c);
Part xglm_trunk(const Config& c);

// bitnet.cpp
Part bitnet(const Config& c);
Part bitnet_trunk(const Config& c);

// bloom.cpp
Part bloom(const Config& c);
Part bloom_trunk(const Config& c);

// cohere.cpp
Part cohere(const Config& c);
Part cohere_trunk(const Config& c);
Part cohere2(const Config& c);
Part cohere2_trunk(const Config& c);

// cpmant.cpp
Part cpmant(const Config& c);
Part cpmant_trunk(const Config& c);

// ctrl.cpp
Part openai_gpt(const Config& c);
Part openai_gpt_trunk(const Config& c);
Part ctrl(const Config& c);
Part ctrl_trunk(const Config& c);

// cwm.cpp
Part cwm(const Config& c);
Part cwm_trunk(const Config& c);

// diffllama.cpp
Part diffllama(const Config& c);
Part diffllama_trunk(const Config& c);

// doge.cpp
Part doge(const Config& c);
Part doge_trunk(const Config& c);

// ernie4_5.cpp
Part ernie4_5(const Config& c);
Part ernie4_5_trunk(const Config& c);

// exaone4.cpp
Part exaone4(const Config& c);
Part exaone4_trunk(const Config& c);

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
// gemma3n.cpp
Part gemma3n_text(const Config& c);
Part gemma3n_trunk(const Config& c);
Part vaultgemma(const Config& c);
Part vaultgemma_trunk(const Config& c);

// glm.cpp
Part glm(const Config& c);
Part glm_trunk(const Config& c);
Part glm4(const Config& c);
Part glm4_trunk(const Config& c);

// gpt.cpp
Part gpt2(const Config& c);
Part gpt2_trunk(const Config& c);
Part gpt_bigcode(const Config& c);
Part gpt_bigcode_trunk(const Config& c);
Part gpt_neo(const Config& c);
Part gpt_neo_trunk(const Config& c);
Part gptj(const Config& c);
Part gptj_trunk(const Config& c);
Part codegen(const Config& c);
Part codegen_trunk(const Config& c);

// gpt_neox.cpp
Part gpt_neox(const Config& c);
Part gpt_neox_trunk(const Config& c);
Part gpt_neox_japanese(const Config& c);
Part gpt_neox_japanese_trunk(const Config& c);

// granite.cpp
Part granite(const Config& c);
Part granite_trunk(const Config& c);
Part granite_swa(const Config& c);
Part granite_swa_trunk(const Config& c);

// helium.cpp
Part helium(const Config& c);
Part helium_trunk(const Config& c);

// hrm_text.cpp
Part hrm_text(const Config& c);
Part hrm_text_trunk(const Config& c);

// hunyuan.cpp
Part hunyuan_dense(const Config& c);
Part hunyuan_dense_trunk(const Config& c);

// hyperclovax.cpp
Part hyperclovax(const Config& c);
Part hyperclovax_trunk(const Config& c);

// jais2.cpp
Part jais2(const Config& c);
Part jais2_trunk(const Config& c);

// llama.cpp
Part llama(const Config& c);
Part llama_trunk(const Config& c);
Part emu3(const Config& c);

// mistral.cpp
Part mistral(const Config& c);
Part mistral_trunk(const Config& c);
Part ministral(const Config& c);
Part ministral_trunk(const Config& c);
Part ministral3(const Config& c);
Part ministral3_trunk(const Config& c);

// moshi.cpp
Part moshi(const Config& c);
Part moshi_trunk(const Config& c);

// mpt.cpp
Part mpt(const Config& c);
Part mpt_trunk(const Config& c);

// nanochat.cpp
Part nanochat(const Config& c);
Part nanochat_trunk(const Config& c);

// nemotron.cpp
Part nemotron(const Config& c);
Part nemotron_trunk(const Config& c);

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

// persimmon.cpp
Part persimmon(const Config& c);
Part persimmon_trunk(const Config& c);

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

// seed_oss.cpp
Part seed_oss(const Config& c);
Part seed_oss_trunk(const Config& c);

// smollm3.cpp
Part smollm3(const Config& c);
Part smollm3_trunk(const Config& c);

// stablelm.cpp
Part stablelm(const Config& c);
Part stablelm_trunk(const Config& c);

// starcoder2.cpp
Part starcoder2(const Config& c);
Part starcoder2_trunk(const Config& c);

}  // namespace headroom::model::families
