// The rows of text decoders, one block per file of this folder.
#include "model/architectures/families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // bloom.cpp
    {"BloomForCausalLM", "bloom", bloom},
    {"BloomModel", "bloom", bloom_trunk},
    // cohere.cpp
    {"CohereForCausalLM", "cohere", cohere},
    {"CohereModel", "cohere", cohere_trunk},
    {"Cohere2ForCausalLM", "cohere2", cohere2},
    {"Cohere2Model", "cohere2", cohere2_trunk},
    // falcon.cpp
    {"FalconForCausalLM", "falcon", falcon},
    {"FalconModel", "falcon", falcon_trunk},
    // gemma.cpp
    {"GemmaForCausalLM", "gemma", gemma},
    {"GemmaModel", "gemma", gemma_trunk},
    {"Gemma2ForCausalLM", "gemma2", gemma2},
    {"Gemma2Model", "gemma2", gemma2_trunk},
    {"Gemma3ForCausalLM", "gemma3_text", gemma3_text},
    {"Gemma3TextModel", "gemma3_text", gemma3_trunk},
    // glm.cpp
    {"GlmForCausalLM", "glm", glm},
    {"GlmModel", "glm", glm_trunk},
    // gpt.cpp
    {"GPT2LMHeadModel", "gpt2", gpt2},
    {"GPT2Model", "gpt2", gpt2_trunk},
    {"GPTBigCodeForCausalLM", "gpt_bigcode", gpt_bigcode},
    {"GPTBigCodeModel", "gpt_bigcode", gpt_bigcode_trunk},
    {"GPTNeoForCausalLM", "gpt_neo", gpt_neo},
    {"GPTNeoModel", "gpt_neo", gpt_neo_trunk},
    {"GPTJForCausalLM", "gptj", gptj},
    {"GPTJModel", "gptj", gptj_trunk},
    // gpt_neox.cpp
    {"GPTNeoXForCausalLM", "gpt_neox", gpt_neox},
    {"GPTNeoXModel", "gpt_neox", gpt_neox_trunk},
    // granite.cpp
    {"GraniteForCausalLM", "granite", granite},
    {"GraniteModel", "granite", granite_trunk},
    // llama.cpp
    {"LlamaForCausalLM", "llama", llama},
    {"LlamaModel", "llama", llama_trunk},
    // mistral.cpp
    {"MistralForCausalLM", "mistral", mistral},
    {"MistralModel", "mistral", mistral_trunk},
    // mpt.cpp
    {"MptForCausalLM", "mpt", mpt},
    {"MptModel", "mpt", mpt_trunk},
    // olmo.cpp
    {"OlmoForCausalLM", "olmo", olmo},
    {"OlmoModel", "olmo", olmo_trunk},
    {"Olmo2ForCausalLM", "olmo2", olmo2},
    {"Olmo2Model", "olmo2", olmo2_trunk},
    {"Olmo3ForCausalLM", "olmo3", olmo3},
    {"Olmo3Model", "olmo3", olmo3_trunk},
    // opt.cpp
    {"OPTForCausalLM", "opt", opt},
    {"OPTModel", "opt", opt_trunk},
    // phi.cpp
    {"PhiForCausalLM", "phi", phi},
    {"PhiModel", "phi", phi_trunk},
    {"Phi3ForCausalLM", "phi3", phi3},
    {"Phi3Model", "phi3", phi3_trunk},
    // qwen.cpp
    {"Qwen2ForCausalLM", "qwen2", qwen2},
    {"Qwen2Model", "qwen2", qwen2_trunk},
    {"Qwen3ForCausalLM", "qwen3", qwen3},
    {"Qwen3Model", "qwen3", qwen3_trunk},
    // stablelm.cpp
    {"StableLmForCausalLM", "stablelm", stablelm},
    {"StableLmModel", "stablelm", stablelm_trunk},
    // starcoder2.cpp
    {"Starcoder2ForCausalLM", "starcoder2", starcoder2},
    {"Starcoder2Model", "starcoder2", starcoder2_trunk},
};

}  // namespace

std::span<const Architecture> decoder_rows() { return rows; }

}  // namespace headroom::model::families
