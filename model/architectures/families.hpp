// The functions behind the table of architectures: one per class, in one file per family.
//
// Each takes the config and returns the Part below the root module. Names, shapes and order are
// those of transformers 5.23 on the meta device, which tests/oracle/models_test.cpp compares with.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// dbrx.cpp
Part dbrx(const Config& c);

// deepseek.cpp
Part deepseek_v2(const Config& c);
Part deepseek_v3(const Config& c);
Part deepseek_v32(const Config& c);

// glm_moe.cpp
Part glm4_moe(const Config& c);
Part glm4_moe_lite(const Config& c);
Part glm_moe_dsa(const Config& c);

// gpt_oss.cpp
Part gpt_oss(const Config& c);

// jamba.cpp
Part jamba(const Config& c);

// llama.cpp
Part llama(const Config& c);

// mamba.cpp
Part mamba(const Config& c);
Part mamba2(const Config& c);

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

// rwkv.cpp
Part rwkv(const Config& c);

}  // namespace headroom::model::families
