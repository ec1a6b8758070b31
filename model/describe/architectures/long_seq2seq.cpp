// Encoder-decoders for long inputs with BART's decoder: LED (arXiv:2004.05150), PEGASUS-X
// (arXiv:2208.04347) and BigBird-PEGASUS (arXiv:2007.14062).
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::long_seq2seq {

/// Self-attention of an encoder layer, and its norm.
Part led_attention(const Seq2SeqSizes& s) {
  Part inner;
  for (const auto name : {"query", "key", "value", "query_global", "key_global", "value_global"})
    inner = std::move(inner) + linear(name, s.hidden, s.hidden, Bias::yes);
  return in("self_attn", "LEDEncoderAttention",
            in("longformer_self_attn", "LEDEncoderSelfAttention", std::move(inner)) +
                linear("output", s.hidden, s.hidden, Bias::yes)) +
         layer_norm("self_attn_layer_norm", s.hidden);
}

Part big_bird_attention(const Config& c, const Seq2SeqSizes& s) {
  const bool sparse = c.text({"attention_type"}, "block_sparse") == "block_sparse";
  return in("self_attn", "BigBirdPegasusEncoderAttention",
            in("self",
               sparse ? "BigBirdPegasusBlockSparseAttention" : "BigBirdPegasusSelfAttention",
               linear("query", s.hidden, s.hidden, s.bias) +
                   linear("key", s.hidden, s.hidden, s.bias) +
                   linear("value", s.hidden, s.hidden, s.bias) + (sparse ? Part{} : dropout())) +
                linear("output", s.hidden, s.hidden, s.bias)) +
         layer_norm("self_attn_layer_norm", s.hidden);
}

Part pegasus_x_attention(const Seq2SeqSizes& s) {
  return seq2seq_attention("self_attn", "PegasusXGlobalLocalAttention", s) +
         layer_norm("self_attn_layer_norm", s.hidden) +
         layer_norm("global_self_attn_layer_norm", s.hidden);
}

Part feed_forward(const Seq2SeqSizes& s) {
  return module("activation_fn", s.act) + linear("fc1", s.hidden, s.inner, Bias::yes) +
         linear("fc2", s.inner, s.hidden, Bias::yes) + layer_norm("final_layer_norm", s.hidden);
}

std::string family_name(const Config& c) {
  for (const std::string_view family : {"LED", "PegasusX"})
    if (c.class_name().starts_with(family)) return std::string(family);
  return "BigBirdPegasus";
}

/// Source: transformers 5.23, models/led, models/bigbird_pegasus, models/pegasus_x.
Part long_seq2seq(const Config& c) {
  const std::string f = family_name(c);
  const bool led = f == "LED", pegasus_x = f == "PegasusX";
  const Size hidden = c.dim({"d_model"}), vocab = c.dim({"vocab_size"});
  Seq2SeqSizes encoder = seq2seq_sizes(c, "encoder"), decoder = seq2seq_sizes(c, "decoder");
  if (!led)
    for (auto* s : {&encoder, &decoder})
      s->bias = s->key_bias = pegasus_x ? Bias::no : c.bias({"use_bias"}, false);
  const auto words = [&](std::string_view name) {
    return embedding(name, vocab, hidden, led ? "Embedding" : f + "ScaledWordEmbedding");
  };
  const auto positions = [&](std::string_view side) {
    if (pegasus_x) return module("embed_positions", "PegasusXSinusoidalPositionalEmbedding");
    const std::string key = led ? "max_" + std::string(side) + "_position_embeddings"
                                : std::string("max_position_embeddings");
    return embedding("embed_positions", c.dim({key}), hidden, f + "LearnedPositionalEmbedding");
  };
  const Part last = layer_norm(pegasus_x ? "layer_norm" : "layernorm_embedding", hidden);
  const auto attention = [&] {
    return led         ? led_attention(encoder)
           : pegasus_x ? pegasus_x_attention(encoder)
                       : big_bird_attention(c, encoder);
  };
  const Part global =
      pegasus_x ? embedding("embed_global", c.dim({"num_global_tokens"}, 32), hidden) : Part{};
  const auto decoding = [&] {
    return in("decoder", f + "Decoder",
              words("embed_tokens") + positions("decoder") +
                  stack("layers", f + "DecoderLayer", c.dim({"decoder_layers"}),
                        [&] {
                          return seq2seq_decoder_layer(f + (pegasus_x ? "" : "Decoder"), decoder);
                        }) +
                  last);
  };
  if (is_for(c, "ForCausalLM"))  // its head is never tied
    return unsplittable(
        in("model", f + "DecoderWrapper", decoding()) + output_head("lm_head", hidden, vocab),
        {f + "EncoderLayer", f + "DecoderLayer"});
  Part body = words("shared") +
              in("encoder", f + "Encoder",
                 words("embed_tokens") + global + positions("encoder") +
                     stack("layers", f + "EncoderLayer", c.dim({"encoder_layers"}),
                           [&] { return attention() + feed_forward(encoder); }) +
                     last) +
              decoding();
  if (!led) body = unsplittable(std::move(body), {f + "EncoderLayer", f + "DecoderLayer"});
  const bool bare = is_for(c, f + "Model");
  const std::string base = led ? "led" : "model", scope = bare ? "" : base + ".";
  if (!bare) {
    body = in(base, f + "Model", std::move(body)) + output_head("lm_head", hidden, vocab);
    if (!pegasus_x)
      body = std::move(body) + buffer("final_logits_bias", {1, vocab}, Element::floating, true);
  }
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  for (const std::string_view side : {"encoder", "decoder"})
    body = tied(std::move(body), scope + "shared.weight",
                scope + std::string(side) + ".embed_tokens.weight");
  return bare ? body : tied(std::move(body), scope + "shared.weight", "lm_head.weight");
}

}  // namespace headroom::model::families::long_seq2seq
