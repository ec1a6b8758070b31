// The encoder and decoder layers of "Attention is all you need" as BART registers them. Most
// encoder-decoders share them.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

/// The sizes of the encoder or the decoder. `key_bias` is off for Whisper.
struct Seq2SeqSizes {
  Size hidden, inner, heads;
  std::string act;
  Bias bias = Bias::yes, key_bias = Bias::yes;
};

/// k, v, q and out projections, in that order.
Part seq2seq_attention(std::string_view name, std::string_view class_name, const Seq2SeqSizes& s);
/// seq2seq_attention in a decoder, with a cache of `kind`.
Part cached_attention(std::string_view name, std::string_view class_name, const Seq2SeqSizes& s,
                      CacheKind kind);
Part seq2seq_encoder_layer(std::string_view prefix, const Seq2SeqSizes& s);
Part seq2seq_decoder_layer(std::string_view prefix, const Seq2SeqSizes& s);

/// Reads the keys of `side` ("encoder" or "decoder"): encoder_ffn_dim, encoder_attention_heads, ...
Seq2SeqSizes seq2seq_sizes(const Config& c, std::string_view side);

}  // namespace headroom::model::families
