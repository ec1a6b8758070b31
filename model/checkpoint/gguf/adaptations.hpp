// Functions that set config keys for architectures of llama.cpp whose metadata uses other names or
// units than transformers. They also distinguish several classes under one name.
//
// Source: llama.cpp, conversion/*.py and src/models/*.cpp (2026), checked with files that its own
// converter wrote (tests/oracle/gguf_test.cpp).
#pragma once

#include "model/checkpoint/gguf/keys.hpp"

namespace headroom::model::gguf {

bool has_experts(const GgufKeys& k);
bool corrects_routing(const GgufKeys& k);
bool has_own_positions(const GgufKeys& k);
bool slides(const GgufKeys& k);
bool has_shared_expert(const GgufKeys& k);

void latent(GgufKeys& k);
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
void t5(GgufKeys& k);

}  // namespace headroom::model::gguf
