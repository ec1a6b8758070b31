// Nemotron Parse: C-RADIO's tower with a neck, and mBART's decoder without positions. Version 3.5
// reads the image as a prefix and has no cross-attention.
#include <boost/json.hpp>

#include "model/describe/architectures/seq2seq_layer.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::nemotron_parse {

/// The tower and the neck that makes its patches and its summary as wide as the decoder.
Part encoder(const Config& c, Size width) {
  const Submodel tower = c_radio(c.section("encoder"));
  return tower.as("model_encoder") +
         convolution("conv1", "Conv1d", {width, c.dim({"vision_spatial_dim"}, 1280), 1},
                     Bias::yes) +
         layer_norm("layer_norm1", width) + convolution("conv2", "Conv2d", {width, width, 1, 4}) +
         layer_norm("layer_norm2", width) +
         linear("sum_proj", c.dim({"vision_summary_dim"}, 3840), width, Bias::yes) +
         layer_norm("layer_norm3", width);
}

/// A layer that sees its own tokens only. It may have fewer heads of keys and values.
Part prefix_layer(const Config& d, const Seq2SeqSizes& s) {
  const Size dim = s.hidden / s.heads;
  const Heads h{s.heads, d.dim({"num_key_value_heads"}, s.heads), dim};
  Part attn = linear("k_proj", s.hidden, h.kv * dim, Bias::yes) +
              linear("v_proj", s.hidden, h.kv * dim, Bias::yes) +
              linear("q_proj", s.hidden, s.hidden, Bias::yes) +
              linear("out_proj", s.hidden, s.hidden, Bias::yes);
  attn.caches = {kv_cache(h)};
  return in("self_attn", "NemotronParseSelfAttention", std::move(attn)) +
         layer_norm("self_attn_layer_norm", s.hidden) + module("activation_fn", s.act) +
         linear("fc1", s.hidden, s.inner, Bias::yes) + linear("fc2", s.inner, s.hidden, Bias::yes) +
         layer_norm("final_layer_norm", s.hidden);
}

/// Source: vLLM 0.33 nemotron_parse.py and nemotron_parse3_5.py.
Part nemotron_parse(const Config& c) {
  const Config d = c.section("decoder");
  const Seq2SeqSizes s = seq2seq_sizes(d, "decoder");
  const Size vocabulary = d.dim({"vocab_size"});
  const bool prefix = c.class_name() == "RadioMBartPrefixForCausalLM";
  Part decoder =
      embedding("embed_tokens", vocabulary, s.hidden, "BartScaledWordEmbedding") +
      with_quirks(
          stack("layers", "MBartDecoderLayer", d.dim({"decoder_layers"}),
                [&] { return prefix ? prefix_layer(d, s) : seq2seq_decoder_layer("MBart", s); }),
          {.attention = {.rotation = Rotation::none}}) +
      layer_norm("layernorm_embedding", s.hidden) + layer_norm("layer_norm", s.hidden);
  Part p = in("encoder", "RadioWithNeck", encoder(c, s.hidden)) +
           in("decoder", "MBartDecoderNoPos", std::move(decoder)) +
           output_head("lm_head", s.hidden, vocabulary);
  if (c.flag({"tie_word_embeddings"}, false) || d.flag({"tie_word_embeddings"}, false))
    p = tied(std::move(p), "lm_head.weight", "decoder.embed_tokens.weight");
  return unsplittable(std::move(p), {"MBartDecoderLayer", "RadioBlock"});
}

}  // namespace headroom::model::families::nemotron_parse
