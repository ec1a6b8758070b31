// Models over the tokens of Mimi: CSM, which speaks (a decoder writes the first code of each frame
// and a smaller one the others), and Kyutai's, which transcribes.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/mimi.hpp"

namespace headroom::model::families::csm {

Part llama_layer(const Config& c, const Common& s, const std::string& k, bool caches) {
  const Bias bias = c.bias({"attention_bias"}, false);
  Part p = attention(s.hidden, s.heads, bias, bias);
  if (!caches) p.caches.clear();
  return in("self_attn", k + "Attention", std::move(p)) +
         gated_rest(s, k, c.bias({"mlp_bias"}, false));
}

Part llama_body(const Config& c, const std::string& k, bool caches) {
  const Common s = common_of(c);
  return stack("layers", k + "DecoderLayer", s.layers,
               [&](Size) { return llama_layer(c, s, k, caches); }) +
         rms_norm("norm", k + "RMSNorm", s.hidden) +
         rotary(k + "RotaryEmbedding", rotated_if_scaled(c, s.heads.dim));
}

/// Source: transformers 5.23, models/csm/{configuration,modeling}_csm.py.
Part csm(const Config& c) {
  const std::string k = "Csm";
  const Config d = section_of(c, "depth_decoder_config", "csm_depth_decoder_model");
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size books = c.dim({"num_codebooks"}, 32), deep = d.dim({"hidden_size"});
  const Size seen = d.dim({"backbone_hidden_size"}, 2048), codes = d.dim({"vocab_size"});
  const Size written = d.dim({"num_codebooks"}, 32);
  if (written < 2) d.fail("num_codebooks", "expected at least 2");
  Part p = output_head("lm_head", hidden, vocab) +
           embedding("embed_text_tokens", c.dim({"text_vocab_size"}, 128256), hidden) +
           in("backbone_model", k + "BackboneModel",
              in("embed_tokens", k + "BackboneModelEmbeddings",
                 buffer("audio_tokens_offsets", {books}, Element::int64) +
                     embedding("embed_audio_tokens", times({books, vocab}), hidden)) +
                  llama_body(c, k, true)) +
           in("depth_decoder", k + "DepthDecoderForCausalLM",
              in("model", k + "DepthDecoderModel",
                 embedding("embed_tokens", times({written, codes}), seen) +
                     llama_body(d, k, false) + linear("inputs_embeds_projector", seen, deep)) +
                  in("codebooks_head", k + "CodebooksHead",
                     tensor("weight", {written - 1, deep, codes}, Role::matmul))) +
           mimi(section_of(c, "codec_config", "mimi")).as("codec_model");
  p = with_unsplittable(std::move(p), {k + "DecoderLayer"});
  if (!c.flag({"tie_codebooks_embeddings"}, true)) return p;
  return tied(std::move(p), "backbone_model.embed_tokens.embed_audio_tokens.weight",
              "depth_decoder.model.embed_tokens.weight");
}

/// Source: transformers 5.23, models/kyutai_speech_to_text.
Part kyutai_stt(const Config& c) {
  const std::string k = "KyutaiSpeechToText";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_dim"}, 11264);
  const Size vocab = c.dim({"vocab_size"}), books = c.dim({"num_codebooks"}, 32);
  const Heads heads = heads_of(c, Defaults{});
  if (inner % 2 != 0) c.fail("ffn_dim", "expected an even number");
  const auto projection = [&](std::string_view name, Size from, Size to) {
    return in(name, k + "Linear", linear("linear", from, to));
  };
  const Size wide = heads.query * heads.dim, narrow = heads.kv * heads.dim;
  Part attention = projection("q_proj", hidden, wide) + projection("k_proj", hidden, narrow) +
                   projection("v_proj", hidden, narrow) + projection("o_proj", wide, hidden) +
                   rotary(k + "RotaryEmbedding", rotated_if_scaled(c, heads.dim));
  attention.caches = {kv_cache(heads, c.count({"sliding_window"}, 375))};
  const Part layer = in("self_attn", k + "Attention", std::move(attention)) +
                     in("mlp", k + "GatingMLP",
                        module("activation_fn", activation_class(c, {"hidden_act"}, "silu")) +
                            linear("fc1", hidden, inner) + linear("fc2", inner / 2, hidden)) +
                     rms_norm("input_layernorm", k + "RMSNorm", hidden) +
                     rms_norm("post_attention_layernorm", k + "RMSNorm", hidden);
  const Size rows = vocab + times({books, c.dim({"codebook_vocab_size"}, 2049)}) + 1;
  Part p = in("model", k + "Model",
              in("embed_tokens", k + "Embeddings",
                 buffer("audio_tokens_offsets", {books + 1}, Element::int64) +
                     embedding("embed_tokens", rows, hidden)) +
                  stack("layers", k + "DecoderLayer", c.dim({"num_hidden_layers"}),
                        [&](Size) { return layer; }) +
                  rms_norm("norm", k + "RMSNorm", hidden)) +
           output_head("lm_head", hidden, vocab) +
           mimi(section_of(c, "codec_config", "mimi")).as("codec_model");
  return with_unsplittable(std::move(p), {k + "DecoderLayer"});
}

}  // namespace headroom::model::families::csm
