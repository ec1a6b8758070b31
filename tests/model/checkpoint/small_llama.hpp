// A small Llama whose bytes follow by hand, with a quantisation_config.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// Sizes of llama_config().
struct SmallLlama {
  static constexpr std::int64_t hidden = 256, inner = 512, kv = 128, vocabulary = 1000;
};

/// `quantisation`: the section's JSON. `more`: further keys, after a comma.
inline std::string llama_config(std::int64_t layers, std::string_view quantisation,
                                std::string_view more = "") {
  return fmt::format(
      R"({{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":256,
      "intermediate_size":512,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":1000,
      "num_hidden_layers":{},"tie_word_embeddings":false,"torch_dtype":"float16",
      "quantization_config":{}{}}})",
      layers, quantisation, more);
}
inline Model small_model(const std::string& json) {
  return make_model("small", parse_config(json, "config.json"), "");
}

/// q, k, v, o, gate, up and down of one layer. `f(out, in)` gives the bytes of each.
template <typename F>
std::int64_t small_layer(F f) {
  using S = SmallLlama;
  return f(S::hidden, S::hidden) * 2 + f(S::kv, S::hidden) * 2 + f(S::inner, S::hidden) * 2 +
         f(S::hidden, S::inner);
}

}  // namespace headroom::model
