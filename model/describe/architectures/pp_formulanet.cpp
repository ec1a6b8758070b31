// PP-FormulaNet (arXiv:2503.18382). SAM's tower reads an image of a formula. BART's decoder writes
// its LaTeX.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/seq2seq_layer.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::pp_formulanet {

/// Source: transformers 5.23, models/pp_formulanet/modeling_pp_formulanet.py. Nothing is tied.
Part pp_formulanet(const Config& c) {
  const std::string k = "PPFormulaNet";
  const Config text = section_of(c, "text_config", "pp_formulanet_text");
  const Config v = section_of(c, "vision_config", "pp_formulanet_vision");
  const Seq2SeqSizes s = seq2seq_sizes(text, "decoder");
  const Size vocab = text.dim({"vocab_size"});
  const Submodel tower =
      sam_vision(v, {k, k + "VisionModel", k + "VisionLayer", k + "VisionAttention",
                     k + "PatchEmbeddings", k + "VisionNeck"});
  const Size first = v.dim({"post_conv_in_channels"}, 256);
  const Size middle = v.dim({"post_conv_mid_channels"}, 512);
  const Size last = v.dim({"post_conv_out_channels"}, 1024);
  const Part decoder = embedding("embed_tokens", vocab, s.hidden, k + "ScaledWordEmbedding") +
                       embedding("embed_positions", text.dim({"max_position_embeddings"}, 2560) + 2,
                                 s.hidden, k + "LearnedPositionalEmbedding") +
                       stack("layers", k + "DecoderLayer", text.dim({"decoder_layers"}),
                             [&] { return seq2seq_decoder_layer(k, s); }) +
                       layer_norm("layernorm_embedding", s.hidden) +
                       layer_norm("layer_norm", s.hidden);
  const Part projector =
      in("multi_modal_projector", k + "MultiModalProjector",
         convolution("conv1", "Conv2d", {middle, first, 3, 3}) +
             convolution("conv2", "Conv2d", {last, middle, 3, 3}) +
             linear("linear_1", last, last, Bias::yes) +
             linear("linear_2", last, v.dim({"decoder_hidden_size"}, 512), Bias::yes));
  return in("model", k + "Model",
            in("decoder", k + "TextModel", decoder) +
                in("encoder", tower.class_name, tower.part + projector)) +
         output_head("lm_head", s.hidden, vocab);
}

}  // namespace headroom::model::families::pp_formulanet
