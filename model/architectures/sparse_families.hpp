// The functions behind the table of mixtures of experts, latent attention, hybrids and recurrent
// models: one per class, in one file per family. As families.hpp says of the others.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// afmoe.cpp
Part afmoe(const Config& c);

// aria_text.cpp
Part aria_text(const Config& c);

// axk2.cpp
Part axk2(const Config& c);

// cohere2_moe.cpp
Part cohere2_moe(const Config& c);

// dbrx.cpp
Part dbrx(const Config& c);

// deepseek.cpp
Part deepseek_v2(const Config& c);
Part deepseek_v3(const Config& c);
Part deepseek_v32(const Config& c);
Part axk1(const Config& c);

// deepseek_v4.cpp
Part deepseek_v4(const Config& c);

// ernie4_5_moe.cpp
Part ernie4_5_moe(const Config& c);

// exaone_moe.cpp
Part exaone_moe(const Config& c);

// falcon_h1.cpp
Part falcon_h1(const Config& c);
Part bamba(const Config& c);

// flex_olmo.cpp
Part flex_olmo(const Config& c);
Part olmo_hybrid(const Config& c);

// flint.cpp
Part flint(const Config& c);
Part beam(const Config& c);

// glm_moe.cpp
Part glm4_moe(const Config& c);
Part glm4_moe_lite(const Config& c);
Part glm_moe_dsa(const Config& c);

// gpt_oss.cpp
Part gpt_oss(const Config& c);
Part openai_privacy_filter(const Config& c);

// granite_moe.cpp
Part granitemoe(const Config& c);
Part granitemoeshared(const Config& c);
Part granitemoe_swa(const Config& c);
Part granitemoehybrid(const Config& c);

// hunyuan_moe.cpp
Part hunyuan_v1_moe(const Config& c);
Part hy_v3(const Config& c);

// hy_v4.cpp
Part hy_v4(const Config& c);

// jamba.cpp
Part jamba(const Config& c);

// jetmoe.cpp
Part jetmoe(const Config& c);

// kimi_linear.cpp
Part kimi_linear(const Config& c);
Part bailing_hybrid(const Config& c);

// kolibri1.cpp
Part kolibri1(const Config& c);

// laguna.cpp
Part laguna(const Config& c);
Part mellum(const Config& c);

// lfm.cpp
Part lfm2(const Config& c);
Part lfm2_moe(const Config& c);
Part lfm3(const Config& c);

// longcat_flash.cpp
Part longcat_flash(const Config& c);

// mamba.cpp
Part mamba(const Config& c);
Part mamba2(const Config& c);
Part falcon_mamba(const Config& c);

// mimo_v2_flash.cpp
Part mimo_v2_flash(const Config& c);

// minicpm3.cpp
Part minicpm3(const Config& c);
Part mistral4(const Config& c);
Part youtu(const Config& c);

// minimax.cpp
Part minimax(const Config& c);

// minimax_m2.cpp
Part minimax_m2(const Config& c);

// mixtral.cpp
Part mixtral(const Config& c);

// nemotron_h.cpp
Part nemotron_h(const Config& c);

// olmoe.cpp
Part olmoe(const Config& c);

// phimoe.cpp
Part phimoe(const Config& c);

// qwen3_next.cpp
Part qwen3_next(const Config& c);
Part qwen3_5(const Config& c);
Part qwen3_5_moe(const Config& c);

// qwen_moe.cpp
Part qwen2_moe(const Config& c);
Part qwen3_moe(const Config& c);

// recurrent_gemma.cpp
Part recurrent_gemma(const Config& c);

// rwkv.cpp
Part rwkv(const Config& c);

// solar_open.cpp
Part solar_open(const Config& c);
Part dots1(const Config& c);

// xlstm.cpp
Part xlstm(const Config& c);

// zamba.cpp
Part zamba(const Config& c);
Part zamba2(const Config& c);

// minimax_m3.cpp
Part minimax_m3_text(const Config& c);

// zaya.cpp
Part zaya(const Config& c);

}  // namespace headroom::model::families
