// Higgs Audio 2: a text model each of whose layers has a feed-forward and norms of its own for the
// tokens of sound.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::higgs_audio {

/// Source: transformers 5.23, models/higgs_audio_v2.
Part higgs_audio(const Config& c) {
  const std::string k = "HiggsAudioV2";
  const Common s = common_of(c, {.kv_heads = 8, .head_dim = 128});
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part mlp = gated_mlp(s.hidden, s.inner, s.act, c.bias({"mlp_bias"}, false));
  const auto norm = [&](std::string_view name) { return rms_norm(name, k + "RMSNorm", s.hidden); };
  const Size books = c.dim({"num_codebooks"}, 8);
  const Size codes = times({books, c.dim({"codebook_size"}, 1024)});
  return in("model", k + "Model",
            trunk(
                c,
                {k, norm("norm"), rotary(k + "RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                [&](Size) {
                  return in("self_attn", k + "Attention",
                            attention(s.hidden, s.heads, bias, bias)) +
                         in("mlp", k + "MLP", mlp) + norm("input_layernorm") +
                         norm("post_attention_layernorm") + in("audio_mlp", k + "MLP", mlp) +
                         norm("audio_input_layernorm") + norm("audio_post_attention_layernorm");
                }) +
                in("embed_audio_tokens", k + "Embeddings",
                   buffer("audio_tokens_offsets", {books}, Element::int64) +
                       embedding("embed_audio_tokens", codes, s.hidden))) +
         output_head("audio_lm_head", s.hidden, codes);
}

}  // namespace headroom::model::families::higgs_audio
