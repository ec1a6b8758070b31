// FSMT, fairseq's translation models (arXiv:1907.06616). They have two vocabularies, and an output
// projection inside the decoder.
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::fsmt {

/// Source: transformers 5.23, models/fsmt/modeling_fsmt.py. The base model ties its tables. The
/// class with the head does not.
Part fsmt(const Config& c) {
  const Size hidden = c.dim({"d_model"}), source = c.dim({"src_vocab_size"}, 42024),
             target = c.dim({"tgt_vocab_size", "vocab_size"}, 42024);
  const Size rows = c.dim({"max_position_embeddings"}, 1024) + c.count({"pad_token_id"}, 1) + 1;
  const Seq2SeqSizes encoder = seq2seq_sizes(c, "encoder"), decoder = seq2seq_sizes(c, "decoder");
  const auto tables = [&](Size vocab) {
    return embedding("embed_tokens", vocab, hidden) +
           embedding("embed_positions", rows, hidden, "SinusoidalPositionalEmbedding");
  };
  Part body = in("encoder", "FSMTEncoder",
                 tables(source) + stack("layers", "EncoderLayer", c.dim({"encoder_layers"}),
                                        [&] { return seq2seq_encoder_layer("", encoder); })) +
              in("decoder", "FSMTDecoder",
                 tables(target) + stack("layers", "DecoderLayer", c.dim({"decoder_layers"}), [&] {
                   return seq2seq_decoder_layer("", decoder);
                 }) + output_head("output_projection", hidden, target));
  const std::string scope = is_for(c, "FSMTModel") ? "" : "model.";
  if (!scope.empty()) body = in("model", "FSMTModel", std::move(body));
  if (!c.flag({"tie_word_embeddings"}, false)) return body;
  if (source == target)
    body = tied(std::move(body), scope + "decoder.embed_tokens.weight",
                scope + "encoder.embed_tokens.weight");
  return tied(std::move(body), scope + "decoder.output_projection.weight",
              scope + (source == target ? "encoder" : "decoder") + ".embed_tokens.weight");
}

}  // namespace headroom::model::families::fsmt
