// Functions that set config keys for architectures of llama.cpp whose metadata uses other names or
// units than transformers. They also distinguish several classes under one name.
//
// Source: llama.cpp, conversion/*.py and src/models/*.cpp (2026), checked with files that its own
// converter wrote (tests/oracle/gguf_test.cpp).
#pragma once

#include <boost/json/array.hpp>

#include "model/checkpoint/gguf/keys.hpp"

namespace headroom::model::gguf {

/// The first layer that has a tensor, and the distance to the next one.
struct Period {
  Size first = 0, every = 1;
};
Period period_of(const GgufKeys& k, std::string_view tensor);

/// A word for each layer: `with` if the layer has that tensor, else `without`.
boost::json::array kinds_by_tensor(const GgufKeys& k, std::string_view tensor,
                                   std::string_view with, std::string_view without);

bool has_experts(const GgufKeys& k);
bool corrects_routing(const GgufKeys& k);
bool has_own_positions(const GgufKeys& k);
bool slides(const GgufKeys& k);
bool has_shared_expert(const GgufKeys& k);

void latent(GgufKeys& k);
void qwen(GgufKeys& k);
void phi2(GgufKeys& k);
void gpt_bigcode(GgufKeys& k);
void falcon(GgufKeys& k);
void gpt_neox(GgufKeys& k);
void stablelm(GgufKeys& k);
void starcoder2(GgufKeys& k);
void dbrx(GgufKeys& k);
void mixtral(GgufKeys& k);
void qwen2_moe(GgufKeys& k);
void delta_net(GgufKeys& k);
void qwen4_exp(GgufKeys& k);
void deepseek(GgufKeys& k);
void sparse_latent(GgufKeys& k);
void ernie_moe(GgufKeys& k);
void llama4(GgufKeys& k);
void cohere2_moe(GgufKeys& k);
void gemma4(GgufKeys& k);
void glm4_moe(GgufKeys& k);
void laguna(GgufKeys& k);
void experts_of_intermediate_size(GgufKeys& k);
void granite_moe(GgufKeys& k);
void mamba(GgufKeys& k);
void mamba2(GgufKeys& k);
void jamba(GgufKeys& k);
void nemotron_h(GgufKeys& k);
void lfm2(GgufKeys& k);
void bert(GgufKeys& k);
void rotary_bert(GgufKeys& k);
void chameleon(GgufKeys& k);
void orion(GgufKeys& k);
void gemma_embedding(GgufKeys& k);
void gemma3n(GgufKeys& k);
void hunyuan_moe(GgufKeys& k);
void mimo2(GgufKeys& k);
void minimax_m3(GgufKeys& k);
void hy_v4(GgufKeys& k);
void deepseek4(GgufKeys& k);
void granite_hybrid(GgufKeys& k);
void falcon_h1(GgufKeys& k);
void kimi_linear(GgufKeys& k);
void bailing_hybrid(GgufKeys& k);
void minimax_01(GgufKeys& k);
void dots3_note(GgufKeys& k);
void hrm_text(GgufKeys& k);
void step35(GgufKeys& k);
void glm5_next(GgufKeys& k);
void arctic(GgufKeys& k);
void deci(GgufKeys& k);
void grok(GgufKeys& k);
void kimi_k3(GgufKeys& k);
void plamo2(GgufKeys& k);
void smallthinker(GgufKeys& k);
void cogvlm(GgufKeys& k);
void dflash(GgufKeys& k);
void eagle3(GgufKeys& k);
void gemma4_assistant(GgufKeys& k);
void grovemoe(GgufKeys& k);
void jais(GgufKeys& k);
void neo_bert(GgufKeys& k);
void nomic_bert_moe(GgufKeys& k);
void openelm(GgufKeys& k);
void rwkv6(GgufKeys& k);
void rwkv6qwen2(GgufKeys& k);
void rwkv7(GgufKeys& k);
void rwkv_hybrid(GgufKeys& k);
void t5_encoder(GgufKeys& k);
void t5(GgufKeys& k);

}  // namespace headroom::model::gguf
