// Flags of engines for speculative decoding.
#pragma once

#include <string>
#include <string_view>

#include "model/infer/scenario/draft.hpp"
#include "sweep/launch/script.hpp"

namespace headroom::sweep {

/// llama.cpp's --spec-type. Source: llama.cpp common/speculative.cpp.
std::string_view llama_cpp_draft_type(const model::Draft& draft);

/// The value of vLLM's --speculative-config, a JSON object. Source: vLLM 0.33
/// config/speculative.py.
std::string vllm_draft(const model::Draft& draft);

/// SGLang's flags. One chain: as many draft tokens as steps, and the token before them. A block has
/// one step, which is not said. Source: SGLang 0.5.23 arg_groups/speculative_hook.py.
void add_sglang_draft(const model::Draft& draft, EngineCommand& command);

}  // namespace headroom::sweep
