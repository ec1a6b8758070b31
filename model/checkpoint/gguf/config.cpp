#include "model/checkpoint/gguf/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/formats/gguf_types.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {
namespace {

using Keys = std::vector<std::string_view>;

/// Keys with the same meaning in every architecture, and their names in configs. Each description
/// reads the names of its class.
struct Same {
  std::string_view gguf;
  Keys config;
  bool may_be_zero = true;  ///< 0: as if it were absent
};
const Same common[] = {
    {"embedding_length", {"hidden_size", "n_embd", "d_model"}},
    {"feed_forward_length", {"intermediate_size", "n_inner", "d_ff"}},
    {"attention.head_count", {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    {"attention.head_count_kv", {"num_key_value_heads", "num_kv_heads"}},
    {"attention.sliding_window", {"sliding_window"}},
    {"context_length", {"max_position_embeddings", "n_positions", "max_seq_len"}, false},
    {"expert_count", {"num_experts", "num_local_experts", "n_routed_experts"}},
    {"expert_used_count", {"num_experts_per_tok"}},
    {"expert_feed_forward_length", {"moe_intermediate_size"}},
    {"expert_shared_count", {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"}},
    {"expert_shared_feed_forward_length", {"shared_expert_intermediate_size"}},
    {"leading_dense_block_count",
     {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}},
};

/// The kind of attention of each layer, if the file lists them; true means "sliding". A single
/// number is a period: its last layer has full attention. Source: llama.cpp,
/// src/llama-hparams.cpp, set_swa_pattern.
void set_layer_types(GgufKeys& k) {
  const auto slides = k.by_layer("attention.sliding_window_pattern");
  if (slides.size() < static_cast<std::size_t>(k.layers())) return;
  boost::json::array types;
  for (Size i = 0; i < k.layers(); ++i) {
    const Size said = slides[static_cast<std::size_t>(i)];
    const bool full = said == 0 || (said > 1 && (i + 1) % said == 0);
    types.emplace_back(full ? "full_attention" : "sliding_attention");
  }
  k.set("layer_types", types);
}

void set_common(GgufKeys& k) {
  k.set({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, k.layers());
  if (k.predictors() > 0) k.set("num_nextn_predict_layers", k.predictors());
  for (const Same& row : common)
    if (k.has(row.gguf)) {
      const Size value = k.number(row.gguf);
      if (value == 0 && !row.may_be_zero) k.fail(row.gguf, "found 0, expected a number above 0");
      if (value > 0)
        for (const auto key : row.config) k.set(key, value);
    }
  if (!k.has("attention.head_count_kv") && k.has("attention.head_count"))
    k.set({"num_key_value_heads", "num_kv_heads"}, k.number("attention.head_count"));
  if (!k.has("feed_forward_length") && k.has("expert_feed_forward_length"))
    k.set("intermediate_size", k.number("expert_feed_forward_length"));  // no layer is dense
  const Size vocabulary = k.rows("token_embd.weight");
  if (vocabulary > 0) k.set("vocab_size", vocabulary);
  k.set("tie_word_embeddings", !k.has_tensor("output.weight"));
  k.set({"attention_bias", "qkv_bias", "use_qkv_bias"}, k.some_layer_has("attn_q.bias"));
  k.set("mlp_bias", k.some_layer_has("ffn_up.bias"));
  k.set({"use_qk_norm", "qk_layernorm"}, k.some_layer_has("attn_q_norm.weight"));
  const Size heads = k.number("attention.head_count", 0);
  const Size width = k.has_tensor("blk.0.attn_q.weight") ? k.rows("blk.0.attn_q.weight")
                                                         : k.number("embedding_length");
  const Size dim = k.number("attention.key_length", heads > 0 ? width / heads : 0);
  if (dim > 0) k.set({"head_dim", "d_kv"}, dim);
  const Size rotated = k.number("rope.dimension_count", dim);
  if (dim > 0 && rotated > 0 && rotated < dim) {
    const double share = static_cast<double>(rotated) / static_cast<double>(dim);
    k.set({"partial_rotary_factor", "rotary_pct"}, share);
    k.set("rotary_dim", rotated);
  }
  set_layer_types(k);
}

/// Pruned models have different head counts in different layers. Only rows that say so describe
/// them.
void check_heads_by_layer(GgufKeys& k, std::string_view by_layer, const std::string& origin) {
  for (const std::string_view key : {"attention.head_count", "attention.head_count_kv"}) {
    if (std::ranges::count(split(by_layer, '|'), key) > 0) continue;
    Size first = 0;
    for (const Size heads : k.by_layer(key)) {
      if (first == 0) first = heads;
      if (heads > 0 && heads != first)  // 0: no attention in that layer
        throw NotDescribed(fmt::format(
            "{}: key '{}.{}': found {} and {} in different layers, which is not described for {}",
            origin, k.architecture(), key, first, heads, k.architecture()));
    }
  }
}

/// The config of a row's class. Classes with towers have the language model's keys in a section.
boost::json::object with_class(boost::json::object config, const GgufArchitecture& row) {
  if (!row.section.empty()) {
    config["model_type"] = row.section;
    const boost::json::value tie = config["tie_word_embeddings"];
    config = {{"text_config", std::move(config)}, {"tie_word_embeddings", tie}};
  }
  config["architectures"] = boost::json::array{row.class_name};
  config["model_type"] = row.model_type;
  return config;
}

/// File types by number. Source: include/llama.h of llama.cpp and ik_llama.cpp, enum llama_ftype.
constexpr std::pair<Size, std::string_view> file_types[] = {
    {0, "gguf-f32"},
    {1, "gguf-f16"},
    {2, "q4_0"},
    {3, "q4_1"},
    {7, "q8_0"},
    {8, "q5_0"},
    {9, "q5_1"},
    {10, "q2_K"},
    {11, "q3_K_S"},
    {12, "q3_K_M"},
    {13, "q3_K_L"},
    {14, "q4_K_S"},
    {15, "q4_K_M"},
    {16, "q5_K_S"},
    {17, "q5_K_M"},
    {18, "q6_K"},
    {19, "iq2_xxs"},
    {20, "iq2_xs"},
    {21, "q2_K_S"},
    {22, "iq3_xs"},
    {23, "iq3_xxs"},
    {24, "iq1_s"},
    {25, "iq4_nl"},
    {26, "iq3_s"},
    {27, "iq3_m"},
    {28, "iq2_s"},
    {29, "iq2_m"},
    {30, "iq4_xs"},
    {31, "iq1_m"},
    {32, "gguf-bf16"},
    {36, "tq1_0"},
    {37, "tq2_0"},
    {38, "mxfp4-moe"},
    // ik_llama.cpp's own
    {135, "q6_0"},
    {136, "iq1_bn"},
    {137, "iq2_bn"},
    {138, "iq2_k"},
    {139, "iq3_k"},
    {140, "iq4_k"},
    {141, "iq5_k"},
    {142, "iq6_k"},
    {145, "iq4_ks"},
    {146, "iq3_kl"},
    {147, "iq2_ks"},
    {148, "iq4_kss"},
    {149, "q8_KV"},
    {150, "iq5_ks"},
    {151, "iq2_kt"},
    {152, "iq3_kt"},
    {153, "iq4_kt"},
    {154, "iq3_ks"},
    {155, "iq2_kl"},
    {156, "iq1_kt"},
    {202, "q4_0_r8"},
    {207, "q8_0_r8"},
    {208, "q5_0_r4"},
    {210, "q2_K_R4"},
    {211, "q3_K_R4"},
    {214, "q4_K_R4"},
    {216, "q5_K_R4"},
    {218, "q6_K_R4"},
    {219, "iq2_xxs_r4"},
    {220, "iq2_xs_r4"},
    {223, "iq3_xxs_r4"},
    {224, "iq1_s_r4"},
    {225, "iq4_nl_r4"},
    {226, "iq3_s_r4"},
    {229, "iq2_m_r4"},
    {230, "iq4_xs_r8"},
    {231, "iq1_m_r4"},
    {232, "bf16_r16"},
    {335, "q6_0_r4"},
    {337, "iq2_bn_r4"},
    {338, "iq2_k_r4"},
    {339, "iq3_k_r4"},
    {340, "iq4_k_r4"},
    {341, "iq5_k_r4"},
    {345, "iq4_ks_r4"},
    {350, "iq5_ks_r4"},
    {399, "q8_K_R8"},
};

/// The scheme of files with most of their bytes in a type.
std::string scheme_of_type(std::string_view type) {
  if (type == "MXFP4") return "mxfp4-moe";
  const std::string name = lower(type);
  for (const std::string& wanted : {name, "gguf-" + name})
    for (const Scheme& row : schemes()) {
      if (!is_gguf(row.family)) continue;
      if (lower(row.name) == wanted) return std::string(row.name);
      for (const std::string_view alias : row.aliases)
        if (lower(alias) == wanted) return std::string(row.name);
    }
  return "gguf-f16";
}

}  // namespace

Config gguf_config(const GgufHeader& header, const TensorList& tensors) {
  GgufKeys k(header, tensors);
  std::vector<std::string> known;
  for (const GgufArchitecture& row : gguf_architectures()) {
    known.emplace_back(row.name);
    if (row.name != k.architecture() || (row.is != nullptr && !row.is(k))) continue;
    set_common(k);
    if (row.more != nullptr) row.more(k);
    check_heads_by_layer(k, row.by_layer, tensors.origin);
    return Config(with_class(k.config(), row), tensors.origin);
  }
  throw NotDescribed(fmt::format(
      "{}: key 'general.architecture': '{}' is not described; nearest: {}", tensors.origin,
      k.architecture(), fmt::join(nearest(k.architecture(), known), ", ")));
}

GgufScheme gguf_scheme(const GgufHeader& header, const TensorList& tensors) {
  const Size type = header.number("general.file_type", -1) % 1024;  // 1024: guessed
  const bool said = header.number("general.file_type", 1024) < 1024;
  std::map<std::string_view, Bytes> bytes, of_ik;
  for (const TensorHeader& tensor : tensors.tensors) {
    bytes[tensor.dtype] += tensor.bytes;
    if (is_gguf_type_of_ik(tensor.dtype)) of_ik[tensor.dtype] += tensor.bytes;
  }
  // A recipe of its own keeps the number of the mix that it started from.
  for (const auto& [number, name] : file_types)
    if (said && number == type && (of_ik.empty() || scheme(name).family == SchemeFamily::gguf_ik))
      return {std::string(name), true};
  const auto& counted = of_ik.empty() ? bytes : of_ik;
  const auto most = std::ranges::max_element(
      counted, [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most == counted.end() ? "gguf-f16" : scheme_of_type(most->first), false};
}

}  // namespace headroom::model
