// Decoders for encoders of another kind: TrOCR (arXiv:2109.10282) and MusicGen (arXiv:2306.05284).
// They have BART's layer with cross-attention.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::trocr {

/// Source: transformers 5.23, models/trocr/modeling_trocr.py. Sinusoidal positions are not a
/// buffer.
Part trocr(const Config& c) {
  const Seq2SeqSizes s = seq2seq_sizes(c, "decoder");
  const Size vocab = c.dim({"vocab_size"}), positions = c.dim({"max_position_embeddings"}, 512);
  const Size seen = c.dim_or_none({"cross_attention_hidden_size"}, 0);
  Part layer = seq2seq_decoder_layer("TrOCR", s);
  for (const std::string_view name : {"encoder_attn.k_proj.weight", "encoder_attn.v_proj.weight"})
    if (seen > 0) tensor_of(layer, name).shape = {s.hidden, seen};
  Part decoder = embedding("embed_tokens", vocab, s.hidden, "TrOCRScaledWordEmbedding") +
                 (c.flag({"use_learned_position_embeddings"}, true)
                      ? embedding("embed_positions", positions + 2, s.hidden,
                                  "TrOCRLearnedPositionalEmbedding")
                      : module("embed_positions", "TrOCRSinusoidalPositionalEmbedding"));
  if (c.flag({"layernorm_embedding"}, true))
    decoder = std::move(decoder) + layer_norm("layernorm_embedding", s.hidden);
  decoder = std::move(decoder) +
            stack("layers", "TrOCRDecoderLayer", c.dim({"decoder_layers"}), [&] { return layer; });
  Part p = unsplittable(
      in("model", "TrOCRDecoderWrapper", in("decoder", "TrOCRDecoder", std::move(decoder))) +
          output_head("output_projection", s.hidden, vocab),
      {"TrOCRDecoderLayer"});
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "output_projection.weight", "model.decoder.embed_tokens.weight");
}

/// Each codebook has a vocabulary, an embedding and a head. The vocabulary's last row is the start
/// token. MusicGen Melody's decoder reads its condition as a prefix. Source: transformers 5.23,
/// models/musicgen, models/musicgen_melody.
Part musicgen_decoder(const Config& c) {
  const bool melody = c.class_name().starts_with("MusicgenMelody");
  const std::string k = melody ? "MusicgenMelody" : "Musicgen";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_dim"}, 4096);
  const Size books = c.dim({"num_codebooks"}, 4), vocab = c.dim({"vocab_size"});
  const Seq2SeqSizes s{.hidden = hidden,
                       .inner = inner,
                       .heads = c.dim({"num_attention_heads"}),
                       .act = activation_class(c, {"activation_function"}, "gelu"),
                       .bias = Bias::no,
                       .key_bias = Bias::no};
  if (books > most_layers) c.fail("num_codebooks", "more than are supported");
  Part embeddings{.modules = {{"embed_tokens", "ModuleList"}}};
  Part heads{.modules = {{"lm_heads", "ModuleList"}}};
  for (Size i = 0; i < books; ++i) {
    embeddings =
        std::move(embeddings) + at("embed_tokens", embedding(std::to_string(i), vocab + 1, hidden));
    heads = std::move(heads) + at("lm_heads", output_head(std::to_string(i), hidden, vocab));
  }
  const auto layer = [&] {
    Part p = cached_attention("self_attn", k + "Attention", s, CacheKind::self_attention) +
             module("activation_fn", s.act) + layer_norm("self_attn_layer_norm", hidden);
    if (!melody)
      p = std::move(p) +
          cached_attention("encoder_attn", k + "Attention", s, CacheKind::cross_attention) +
          layer_norm("encoder_attn_layer_norm", hidden);
    return std::move(p) + linear("fc1", hidden, inner) + linear("fc2", inner, hidden) +
           layer_norm("final_layer_norm", hidden);
  };
  const Part decoder = std::move(embeddings) +
                       in("embed_positions", k + "SinusoidalPositionalEmbedding",
                          buffer("weights", {c.dim({"max_position_embeddings"}, 2048), hidden})) +
                       stack("layers", k + "DecoderLayer", c.dim({"num_hidden_layers"}), layer) +
                       layer_norm("layer_norm", hidden);
  return unsplittable(
      in("model", k + "Model", in("decoder", k + "Decoder", decoder)) + std::move(heads),
      {k + "DecoderLayer", k + "Attention"});
}

}  // namespace headroom::model::families::trocr
