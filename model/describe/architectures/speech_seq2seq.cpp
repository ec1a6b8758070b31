// Encoder-decoders for speech recognition: Speech2Text (arXiv:2010.05171) and Moonshine
// (arXiv:2410.15608).
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::speech_seq2seq {

/// Gated convolutions that halve the number of frames, then BART's layers.
/// Source: transformers 5.23, models/speech_to_text.
Part speech_to_text(const Config& c) {
  const std::string f = "Speech2Text";
  const Seq2SeqSizes e = seq2seq_sizes(c, "encoder"), d = seq2seq_sizes(c, "decoder");
  const auto kernels = c.dims({"conv_kernel_sizes"});
  const Size middle = c.dim({"conv_channels"}, 1024);
  if (kernels.empty() || kernels.size() > 64)
    c.fail("conv_kernel_sizes", "expected 1 to 64 numbers");
  Part convolutions;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Size from =
        i == 0 ? c.dim({"input_feat_per_channel"}, 80) * c.dim({"input_channels"}, 1) : middle / 2;
    convolutions =
        std::move(convolutions) +
        convolution(std::to_string(i), "Conv1d",
                    {i + 1 < kernels.size() ? middle : 2 * e.hidden, from, kernels[i]}, Bias::yes);
  }
  const auto positions = [&](std::string_view key, Size fallback) {
    return in("embed_positions", f + "SinusoidalPositionalEmbedding",
              buffer("weights", {c.dim({key}, fallback) + 2, e.hidden}));
  };
  Part p = in("encoder", f + "Encoder",
              in("conv", "Conv1dSubsampler", in("conv_layers", "ModuleList", convolutions)) +
                  positions("max_source_positions", 6000) +
                  stack("layers", f + "EncoderLayer", c.dim({"encoder_layers"}),
                        [&] { return seq2seq_encoder_layer(f, e); }) +
                  layer_norm("layer_norm", e.hidden)) +
           in("decoder", f + "Decoder",
              embedding("embed_tokens", c.dim({"vocab_size"}), d.hidden) +
                  positions("max_target_positions", 1024) +
                  stack("layers", f + "DecoderLayer", c.dim({"decoder_layers"}),
                        [&] { return seq2seq_decoder_layer(f, d); }) +
                  layer_norm("layer_norm", d.hidden));
  const auto whole = [&](Part part) { return unsplittable(std::move(part), {f + "EncoderLayer"}); };
  if (is_for(c, f + "Model")) return whole(std::move(p));
  p = whole(in("model", f + "Model", std::move(p)) +
            output_head("lm_head", d.hidden, c.dim({"vocab_size"})));
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "lm_head.weight", "model.decoder.embed_tokens.weight");
}

/// Three convolutions read the raw audio. Positions are rotary. Only the decoder has a gated
/// feed-forward. Source: transformers 5.23, models/moonshine.
Part moonshine(const Config& c) {
  const std::string f = "Moonshine";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Bias bias = c.bias({"attention_bias"}, false);
  // The reference reads the decoder's heads from the encoder's keys.
  const Size query = c.dim({"encoder_num_attention_heads"}, 8);
  const Size kv = c.dim_or_none({"encoder_num_key_value_heads"}, 0);
  const Heads heads{query, kv > 0 ? kv : query, hidden / query};
  const auto attend = [&](std::string_view name, CacheKind kind) {
    Part p = attention(hidden, heads, bias);
    p.caches[0].kind = kind;
    return in(name, f + "Attention", std::move(p));
  };
  const auto norm = [&](std::string_view name) { return layer_norm(name, hidden, Bias::no); };
  const auto mlp = [&](const std::string& side, std::string_view act, Size wide) {
    return in("mlp", f + (side == "encoder" ? "EncoderMLP" : "DecoderMLP"),
              module("activation_fn", activation_class(c, {side + "_hidden_act"}, act)) +
                  linear("fc1", hidden, wide, Bias::yes) + linear("fc2", inner, hidden, Bias::yes));
  };
  const Part table = rotary(f + "RotaryEmbedding", rotated_dims(c, heads.dim, 0.9));
  const auto conv = [&](std::string_view name, Size from, Size to, Size kernel, Bias b) {
    return convolution(name, "Conv1d", {to, from, kernel}, b);
  };
  Part encoder = conv("conv1", 1, hidden, 127, Bias::no) +
                 conv("conv2", hidden, 2 * hidden, 7, Bias::yes) +
                 conv("conv3", 2 * hidden, hidden, 3, Bias::yes) +
                 in("groupnorm", "GroupNorm",
                    tensor("weight", {hidden}, Role::norm) + tensor("bias", {hidden}, Role::norm)) +
                 stack("layers", f + "EncoderLayer", c.dim({"encoder_num_hidden_layers"}, 6),
                       [&] {
                         Part self = attend("self_attn", CacheKind::self_attention);
                         self.caches.clear();
                         return self + mlp("encoder", "gelu", inner) + norm("input_layernorm") +
                                norm("post_attention_layernorm");
                       }) +
                 norm("layer_norm") + table;
  Part decoder = embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
                 stack("layers", f + "DecoderLayer", c.dim({"decoder_num_hidden_layers"}, 6),
                       [&] {
                         return attend("self_attn", CacheKind::self_attention) +
                                attend("encoder_attn", CacheKind::cross_attention) +
                                mlp("decoder", "silu", 2 * inner) + norm("input_layernorm") +
                                norm("post_attention_layernorm") + norm("final_layernorm");
                       }) +
                 norm("norm") + table;
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part), {f + "EncoderLayer", f + "DecoderLayer"});
  };
  Part p = in("encoder", f + "Encoder", std::move(encoder)) +
           in("decoder", f + "Decoder", std::move(decoder));
  if (is_for(c, f + "Model")) return whole(std::move(p));
  p = whole(in("model", f + "Model", std::move(p)) +
            output_head("proj_out", hidden, c.dim({"vocab_size"})));
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "proj_out.weight", "model.decoder.embed_tokens.weight");
}

}  // namespace headroom::model::families::speech_seq2seq
