// Whisper: a convolutional front end for log-mel frames, then BART's layers without key biases.
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::whisper {

Part whisper_side(const Config& c, std::string_view side) {
  Seq2SeqSizes s = seq2seq_sizes(c, side);
  s.key_bias = Bias::no;
  const bool decoder = side == "decoder";
  Part front =
      decoder
          ? embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
                embedding("embed_positions", c.dim({"max_target_positions"}, 448), s.hidden,
                          "WhisperPositionalEmbedding")
          : convolution("conv1", "Conv1d", {s.hidden, c.dim({"num_mel_bins"}, 80), 3}, Bias::yes) +
                convolution("conv2", "Conv1d", {s.hidden, s.hidden, 3}, Bias::yes) +
                embedding("embed_positions", c.dim({"max_source_positions"}, 1500), s.hidden);
  return in(side, decoder ? "WhisperDecoder" : "WhisperEncoder",
            std::move(front) +
                with_quirks(stack("layers", decoder ? "WhisperDecoderLayer" : "WhisperEncoderLayer",
                                  c.dim({join(side, "_layers")}),
                                  [&] {
                                    return decoder ? seq2seq_decoder_layer("Whisper", s)
                                                   : seq2seq_encoder_layer("Whisper", s);
                                  }),
                            {.attention = {.rotation = Rotation::none, .softmax_fp32 = false}}) +
                layer_norm("layer_norm", s.hidden));
}

/// Source: transformers 5.23, models/whisper/modeling_whisper.py.
Part whisper(const Config& c) {
  const auto whole = [](Part part) {
    return unsplittable(std::move(part), {"WhisperEncoderLayer", "WhisperDecoderLayer"});
  };
  if (is_for(c, "ForCausalLM")) {  // the decoder alone, as a draft model for the whole
    Part draft = whole(in("model", "WhisperDecoderWrapper", whisper_side(c, "decoder")) +
                       output_head("proj_out", c.dim({"d_model"}), c.dim({"vocab_size"})));
    if (!c.flag({"tie_word_embeddings"}, true)) return draft;
    return tied(std::move(draft), "proj_out.weight", "model.decoder.embed_tokens.weight");
  }
  Part p = whisper_side(c, "encoder") + whisper_side(c, "decoder");
  if (is_for(c, "WhisperModel")) return whole(std::move(p));
  p = whole(in("model", "WhisperModel", std::move(p)) +
            output_head("proj_out", c.dim({"d_model"}), c.dim({"vocab_size"})));
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "proj_out.weight", "model.decoder.embed_tokens.weight");
}

}  // namespace headroom::model::families::whisper
