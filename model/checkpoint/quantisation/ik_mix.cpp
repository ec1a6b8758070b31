// Source of all tables: ik_llama.cpp src/llama-quantize.cpp (llama_tensor_get_type,
// change_type_if_necessary, default types by LLAMA_FTYPE) of PyPI ik-llama-cpp-python 0.1.5. Rows
// that are interleaved take no more bytes than others, so their formats are those of the blocks.
#include "model/checkpoint/quantisation/ik_mix.hpp"

#include <algorithm>
#include <array>

namespace headroom::model {
namespace {

using enum TensorClass;
using When = Mix::When;

constexpr auto mixes = std::to_array<IkMix>({
    {"iq2_k", "iq2_k", "q5_K", "iq4_k"},        {"iq3_k", "iq3_k", "q5_K", "iq4_k"},
    {"iq2_ks", "iq2_ks", "q5_K", "iq4_k"},      {"iq3_ks", "iq3_ks", "q5_K", "iq4_k"},
    {"iq2_kl", "iq2_kl", "q5_K", "iq4_k"},      {"iq1_kt", "iq1_kt", "q5_K", "iq4_k"},
    {"iq2_kt", "iq2_kt", "q5_K", "iq4_k"},      {"iq3_kt", "iq3_kt", "q5_K", "iq4_k"},
    {"iq2_k_r4", "iq2_k", "q5_K", "iq4_k"},     {"iq3_k_r4", "iq3_k", "q5_K", "iq4_k"},
    {"iq2_xxs_r4", "iq2_xxs", "q5_K", "iq4_k"}, {"iq2_xs_r4", "iq2_xs", "q5_K", "iq4_k"},
    {"iq3_xxs_r4", "iq3_xxs", "q5_K", "iq4_k"}, {"iq2_m_r4", "iq2_s", "q5_K", "iq4_k"},
    {"iq1_s_r4", "iq1_s_r4", "q5_K", "iq4_k"},  {"iq1_m_r4", "iq1_m_r4", "q5_K", "iq4_k"},
    {"iq4_ks", "iq4_ks", "q6_K", "iq5_k"},      {"iq4_kss", "iq4_kss", "q6_K", "iq5_k"},
    {"iq4_ks_r4", "iq4_ks", "q6_K", "iq5_k"},   {"iq3_s_r4", "iq3_s", "q6_K", "iq5_k"},
    {"iq3_kl", "iq3_k", "q6_K", "iq5_k"},       {"iq4_k", "iq4_k", "q6_K", "q6_K"},
    {"iq5_k", "iq5_k", "q6_K", "q6_K"},         {"iq5_ks", "iq5_ks", "q6_K", "q6_K"},
    {"iq4_kt", "iq4_kt", "q6_K", "q6_K"},       {"q6_0", "q6_0", "q6_K", "q6_K"},
    {"iq4_k_r4", "iq4_k", "q6_K", "q6_K"},      {"iq5_k_r4", "iq5_k", "q6_K", "q6_K"},
    {"iq5_ks_r4", "iq5_ks", "q6_K", "q6_K"},    {"iq4_nl_r4", "iq4_nl", "q6_K", "q6_K"},
    {"iq4_xs_r8", "iq4_xs", "q6_K", "q6_K"},    {"q4_0_r8", "q4_0", "q6_K", "q6_K"},
    {"q5_0_r4", "q5_0", "q6_K", "q6_K"},        {"q6_0_r4", "q6_0", "q6_K", "q6_K"},
    {"q2_K_R4", "q2_K", "q6_K", "q6_K"},        {"q3_K_R4", "q3_K", "q6_K", "q6_K"},
    {"q4_K_R4", "q4_K", "q6_K", "q6_K"},        {"q5_K_R4", "q5_K", "q6_K", "q6_K"},
    {"q6_K_R4", "q6_K", "q6_K", "q6_K"},        {"iq6_k", "iq6_k", "iq6_k", "iq6_k"},
    {"q8_0_r8", "q8_0", "q8_0", "q8_0"},        {"q8_K_R8", "q8_K_r8", "q8_K_r8", "q8_0"},
    {"q8_KV", "q8_KV", "q8_KV", "q8_KV"},       {"iq1_bn", "iq1_bn", "q6_K", "q6_K"},
    {"iq2_bn", "iq2_bn", "q6_K", "q6_K"},       {"iq2_bn_r4", "iq2_bn", "q6_K", "q6_K"},
    {"bf16_r16", "bf16", "q6_K", "q6_K"},
});

/// Mixes that llama-quantize treats alike, below three bits a weight, and the two parts of them.
const std::initializer_list<std::string_view> below_three_bits = {
    "iq2_ks", "iq2_xxs_r4", "iq2_xs_r4", "iq2_m_r4", "iq1_s_r4", "iq1_m_r4", "iq2_kt"};
const std::initializer_list<std::string_view> of_two_bits = {"iq2_ks", "iq2_xxs_r4", "iq2_xs_r4",
                                                             "iq2_m_r4"};
const std::initializer_list<std::string_view> of_less = {"iq1_s_r4", "iq1_m_r4", "iq2_kt"};

/// Classes are those of names in the file: "attn_k" and "attn_q" are parts of the names of latent
/// projections too.
const Mix::Rule rules[] = {
    {{"iq2_xxs_r4", "iq2_xs_r4", "iq1_s_r4", "iq1_m_r4"}, token_embedding, When::always, "q2_K"},
    {{"iq2_m_r4", "iq3_kt"}, token_embedding, When::always, "iq3_s"},
    {{"iq3_xxs_r4"}, token_embedding, When::always, "iq3_k"},
    {{"iq1_bn", "iq2_bn", "iq2_bn_r4"}, token_embedding, When::always, "iq4_nl"},
    {{"q8_K_R8"}, token_embedding, When::always, "q8_0"},

    // Formats below three bits.
    {below_three_bits, attention_v, When::grouped_heads_or_experts, "iq4_k"},
    {of_two_bits, attention_v, When::paired_heads_or_experts, "iq3_k"},
    {of_less, attention_v, When::paired_heads, "iq3_k"},
    {{"iq2_m_r4"}, attention_v, When::always, "iq3_s"},
    {below_three_bits, attention_v, When::always, "q2_K"},
    {below_three_bits, attention_k, When::many_experts, "q4_K"},
    {below_three_bits, attention_k, When::always, ""},
    {of_less, feed_forward_down, When::first_of_many_experts, "iq3_k"},
    {of_less, feed_forward_gate, When::first_of_many_experts, "iq3_k"},
    {of_less, feed_forward_up, When::first_of_many_experts, "iq3_k"},
    {below_three_bits, attention_q, When::many_experts, "q4_K"},
    {{"iq2_m_r4"}, attention_qkv, When::always, "iq3_xxs"},
    {{"iq2_kt"}, attention_qkv, When::always, "iq3_k"},
    {below_three_bits, attention_qkv, When::always, "iq2_k"},
    {of_less, feed_forward_down, When::shared_expert, "iq4_k"},
    {of_less, feed_forward_gate, When::shared_expert, "iq4_k"},
    {of_less, feed_forward_up, When::shared_expert, "iq4_k"},
    {{"iq2_m_r4"}, feed_forward_down, When::first_eighth, "iq3_s"},
    {{"iq2_kt"}, feed_forward_down, When::first_eighth, "iq3_k"},
    {below_three_bits, feed_forward_down, When::first_eighth, "q2_K"},
    {below_three_bits, attention_output, When::four_experts, "q5_K"},
    {{"iq2_m_r4"}, attention_output, When::always, "iq3_s"},
    {{"iq2_kt"}, attention_output, When::always, "iq3_k"},
    {{"iq1_s_r4", "iq1_m_r4"}, attention_output, When::always, "iq2_k"},
    {of_two_bits, attention_output, When::always, ""},

    // Attention.
    {{}, attention_v, When::four_experts, "q8_0"},
    {{"iq3_k", "iq3_kl"}, attention_v, When::seventy_b, "iq5_k"},
    {{}, attention_v, When::seventy_b, ""},
    {{"iq2_k", "iq2_k_r4"}, attention_v, When::paired_heads, "iq4_k"},
    {{"iq2_k", "iq2_k_r4"}, attention_v, When::always, "iq3_k"},
    {{"q2_K_R4", "q3_K_R4", "iq3_xxs_r4"}, attention_v, When::grouped_heads, "q4_K"},
    {{"iq3_kt"}, attention_v, When::grouped_heads, "iq4_k"},
    {{"iq3_kt"}, attention_v, When::always, "iq3_k"},
    {{"iq4_kt"}, attention_v, When::grouped_heads, "iq5_k"},
    {{"iq4_kt"}, attention_v, When::always, "iq4_k"},
    {{"iq3_xxs_r4"}, attention_v, When::paired_heads, "iq3_k"},
    {{"iq3_xxs_r4"}, attention_v, When::plain, "iq3_k"},
    {{"iq3_s_r4", "iq3_k", "iq3_k_r4"}, attention_v, When::paired_heads, "iq4_k"},
    {{"iq3_ks", "iq2_kl"}, attention_v, When::paired_heads, "iq4_ks"},
    {{"iq3_kl"}, attention_v, When::paired_heads, "iq5_k"},
    {{"iq3_kl"}, attention_v, When::always, "iq4_k"},
    {{"iq4_ks", "iq4_kss", "iq4_ks_r4", "iq4_nl_r4", "iq4_xs_r8", "iq4_k", "iq4_k_r4"},
     attention_v,
     When::paired_heads,
     "iq5_k"},
    {{"q4_K_R4"}, attention_v, When::first_four, "q5_K"},
    {{"iq5_k", "iq5_ks"}, attention_v, When::large_vocabulary, "iq6_k"},
    {{}, attention_k, When::four_experts, "q8_0"},
    {{"iq3_xxs_r4"}, attention_k, When::always, "iq2_s"},
    {{"iq3_xxs_r4"}, attention_q, When::always, "iq2_s"},
    {{"iq5_k"}, attention_q, When::large_vocabulary, "iq4_k"},
    {{"iq5_ks"}, attention_q, When::large_vocabulary, "iq4_ks"},
    {{}, attention_output, When::falcon, ""},
    {{"iq2_k",    "iq3_k",     "iq3_kl",    "iq3_ks",   "iq4_k",      "iq4_ks",    "iq4_kss",
      "iq5_ks",   "iq3_kt",    "q2_K_R4",   "q3_K_R4",  "q4_K_R4",    "iq2_k_r4",  "iq3_k_r4",
      "iq4_k_r4", "iq4_ks_r4", "iq5_ks_r4", "iq3_s_r4", "iq3_xxs_r4", "iq4_nl_r4", "iq4_xs_r8"},
     attention_output,
     When::four_experts,
     "q5_K"},
    {{"iq2_kl"}, attention_output, When::four_experts, "iq4_ks"},
    {{}, attention_output, When::four_experts, ""},
    {{"iq3_kt"}, attention_output, When::grouped_heads, "iq3_k"},
    {{"iq3_xxs_r4", "iq2_k", "iq2_k_r4"}, attention_output, When::always, "iq3_k"},
    {{"iq3_kl"}, attention_output, When::always, "iq4_ks"},

    // Feed-forward layers.
    {{"q2_K_R4"}, feed_forward_down, When::first_eighth, "q4_K"},
    {{"iq3_kt"}, feed_forward_down, When::first_eighth_plain, "iq4_k"},
    {{"iq3_xxs_r4"}, feed_forward_down, When::first_eighth_plain, "q4_K"},
    {{"iq3_kt", "iq3_xxs_r4"}, feed_forward_down, When::plain, "iq3_k"},
    {{"iq3_kl"}, feed_forward_down, When::more, "iq4_ks"},
    {{"iq3_kl"}, feed_forward_gate, When::more, "iq4_ks"},
    {{"iq3_kl"}, feed_forward_up, When::more, "iq4_ks"},
    {{"iq4_ks", "iq4_kss", "iq4_ks_r4", "iq4_nl_r4", "iq4_xs_r8"},
     feed_forward_down,
     When::first_eighth_plain,
     "q5_K"},
    {{"q4_K_R4"}, feed_forward_down, When::falcon, ""},
    {{"q4_K_R4"}, feed_forward_down, When::first_eighth, "q5_K"},
    {{"q4_0_r8"}, feed_forward_down, When::first_eighth_importance, "iq4_nl"},
};

struct Fallback {
  std::string_view format, blocks_of_32;
};
constexpr Fallback fallbacks[] = {{"iq4_k", "q5_0"}, {"q4_K", "q5_0"},    {"iq5_ks", "q5_0"},
                                  {"iq5_k", "q6_0"}, {"q5_K", "q6_0"},    {"iq6_k", "q8_0"},
                                  {"q6_K", "q8_0"},  {"q8_K_r8", "q8_0"}, {"q2_K", "iq4_nl"},
                                  {"q3_K", "iq4_nl"}};

}  // namespace

std::span<const IkMix> ik_mixes() { return mixes; }

const IkMix* ik_mix(std::string_view name) {
  const auto found = std::ranges::find(mixes, name, &IkMix::name);
  return found == mixes.end() ? nullptr : &*found;
}

std::span<const Mix::Rule> ik_mix_rules() { return rules; }

std::string_view ik_fallback(std::string_view format) {
  for (const Fallback& row : fallbacks)
    if (row.format == format) return row.blocks_of_32;
  return format.starts_with("iq") && precision(format).block_elements == 256 ? "iq4_nl" : "";
}

}  // namespace headroom::model
