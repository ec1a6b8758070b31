// The frame that Llama fixed and most decoders since kept: embeddings, equal layers, a final norm,
// one rotary table, an output head. Only the layer differs.
#pragma once

#include <string>

#include "model/blocks_decoder.hpp"

namespace headroom::model::families {

enum class Tied : bool { no, yes };

struct Decoder {
  std::string family;    ///< "Llama": LlamaModel, LlamaDecoderLayer, LlamaRotaryEmbedding
  Size rotated;          ///< rotated dimensions of a head
  Part norm;             ///< the final norm
  Tied tied = Tied::no;  ///< where the config does not say
  Bias head_bias = Bias::no;
};

/// `layer(i)` is the content of layer i.
template <class Layer>
Part decoder(const Config& c, const Decoder& d, Layer&& layer) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const std::string block = d.family + "DecoderLayer";
  return unsplittable(
      in("model", d.family + "Model",
         embedding("embed_tokens", vocab, hidden) +
             stack("layers", block, c.dim({"num_hidden_layers"}), layer) + d.norm +
             rotary(d.family + "RotaryEmbedding", d.rotated)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, d.tied == Tied::yes), d.head_bias),
      {block});
}

/// The same with the names and the norm that most families have.
template <class Layer>
Part decoder(const Config& c, Classes k, Size rotated, Layer&& layer) {
  return decoder(c,
                 Decoder{.family = std::string(k.family),
                         .rotated = rotated,
                         .norm = rms_norm("norm", k("RMSNorm"), c.dim({"hidden_size"}))},
                 layer);
}

}  // namespace headroom::model::families
