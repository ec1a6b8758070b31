// NeoBERT (arXiv:2502.19587): an encoder with Llama's layer, whose matrices are fused.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::neo_bert {

/// The width of the gated feed-forward: two thirds of intermediate_size, in whole eights.
Size inner_of(const Config& c) { return (2 * c.dim({"intermediate_size"}) / 3 + 7) / 8 * 8; }

/// Sources: model.py of chandar-lab/NeoBERT, as llama.cpp conversion/bert.py and
/// src/models/neo-bert.cpp read it.
Part neo_bert(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"}), inner = inner_of(c);
  const Part layer =
      linear("qkv", hidden, 3 * hidden) + linear("wo", hidden, hidden) +
      in("ffn", "SwiGLU", linear("w12", hidden, 2 * inner) + linear("w3", inner, hidden)) +
      rms_norm("attention_norm", "RMSNorm", hidden) + rms_norm("ffn_norm", "RMSNorm", hidden);
  Part body = embedding("encoder", vocab, hidden) +
              stack("transformer_encoder", "EncoderBlock", c.dim({"num_hidden_layers"}),
                    [&] { return layer; }) +
              rms_norm("layer_norm", "RMSNorm", hidden);
  if (!is_for(c, "LMHead")) return unsplittable(std::move(body), {"EncoderBlock"});
  return unsplittable(
      in("model", "NeoBERT", std::move(body)) + output_head("decoder", hidden, vocab, Bias::yes),
      {"EncoderBlock"});
}

}  // namespace headroom::model::families::neo_bert
