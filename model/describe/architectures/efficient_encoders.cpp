// Encoders that replaced BERT's attention: BigBird (arXiv:2007.14062), Nystromformer
// (arXiv:2102.03902), YOSO (arXiv:2111.09714), SqueezeBERT (arXiv:2006.11316) and ConvBERT
// (arXiv:2008.02496).
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::efficient_encoders {

Part embeddings(const std::string& f, const BertSizes& s, Size width, Size rows, Part ids) {
  return in("embeddings", f + "Embeddings",
            embedding("word_embeddings", s.vocab, width) +
                embedding("position_embeddings", rows, width) +
                embedding("token_type_embeddings", s.types, width) +
                layer_norm("LayerNorm", width) + dropout() + std::move(ids));
}

Part both_ids(Size positions) {
  return position_ids(positions) + position_ids(positions, "token_type_ids");
}

/// BERT's layer with `self` as its self-attention.
Part layer_around(const std::string& f, const BertSizes& s, Part self) {
  return in("attention", f + "Attention",
            std::move(self) + bert_output("output", f + "SelfOutput", s.hidden, s.hidden)) +
         bert_intermediate(f, s) + bert_output("output", f + "Output", s.inner, s.hidden);
}

Part with_masked_head(const std::string& base, const BertSizes& s, Part body) {
  return with_tied_decoder(std::move(body), "cls.predictions.decoder", "cls.predictions.bias",
                           base + ".embeddings.word_embeddings.weight", s);
}

/// Source: transformers 5.23, models/big_bird/modeling_big_bird.py.
Part big_bird(const Config& c) {
  const std::string f = "BigBird", base = "bert";
  const BertSizes s = bert_sizes(c);
  const Bias bias = c.bias({"use_bias"}, true);
  const bool sparse = c.text({"attention_type"}, "block_sparse") == "block_sparse";
  if (s.decoder || s.cross) c.fail("is_decoder", "only the encoder is described");
  const Part self =
      in("self", f + (sparse ? "BlockSparseAttention" : "SelfAttention"),
         linear("query", s.hidden, s.hidden, bias) + linear("key", s.hidden, s.hidden, bias) +
             linear("value", s.hidden, s.hidden, bias) + (sparse ? Part{} : dropout()));
  Part body = embeddings(f, s, s.hidden, s.positions, both_ids(s.positions)) +
              in("encoder", f + "Encoder",
                 stack("layer", f + "Layer", s.layers, [&] { return layer_around(f, s, self); })) +
              linear("pooler", s.hidden, s.hidden, Bias::yes) + module("activation", "Tanh");
  if (is_for(c, f + "Model")) return body;
  const bool pre = is_for(c, "ForPreTraining");
  Part heads = bert_predictions(f, s);
  if (pre) heads = std::move(heads) + linear("seq_relationship", s.hidden, 2, Bias::yes);
  return with_masked_head(
      base, s,
      in(base, f + "Model", std::move(body)) +
          in("cls", f + (pre ? "PreTrainingHeads" : "OnlyMLMHead"), std::move(heads)));
}

/// Source: transformers 5.23, models/nystromformer, models/yoso.
Part nystromformer_or_yoso(const Config& c) {
  const bool yoso = c.class_name().starts_with("Yoso");
  const std::string f = yoso ? "Yoso" : "Nystromformer", base = yoso ? "yoso" : "nystromformer";
  const BertSizes s = bert_sizes(c);
  Part self = bert_projections(s);
  const std::string_view key = yoso ? "conv_window" : "conv_kernel_size";
  if (c.has(key))
    self = std::move(self) + convolution("conv", "Conv2d", {s.heads, 1, c.dim({key}), 1});
  Part body = embeddings(f, s, s.hidden, s.positions + 2, both_ids(s.positions)) +
              in("encoder", f + "Encoder", stack("layer", f + "Layer", s.layers, [&] {
                   return layer_around(f, s, in("self", f + "SelfAttention", self));
                 }));
  if (is_for(c, f + "Model")) return body;
  return with_masked_head(base, s, in(base, f + "Model", std::move(body)) + bert_masked_head(f, s));
}

/// Grouped convolutions of width 1 replace linear layers. Source: transformers 5.23,
/// models/squeezebert/modeling_squeezebert.py.
Part squeezebert(const Config& c) {
  const std::string f = "SqueezeBert", base = "transformer";
  const BertSizes s = bert_sizes(c);
  if (c.dim({"embedding_size"}, s.hidden) != s.hidden)
    c.fail("embedding_size", "expected the hidden size");
  const auto grouped = [&](std::string_view name, Size in_dim, Size out, std::string_view key,
                           Size groups) {
    Part p = convolution(name, "Conv1d", {out, in_dim / c.dim({key}, groups), 1}, Bias::yes);
    p.tensors[0].role = Role::conv;
    return p;
  };
  const auto closing = [&](std::string_view name, Size in_dim, std::string_view key, Size groups) {
    Part norm = layer_norm("layernorm", s.hidden);
    norm.modules[0].class_name = "SqueezeBertLayerNorm";
    return in(name, "ConvDropoutLayerNorm",
              grouped("conv1d", in_dim, s.hidden, key, groups) + std::move(norm) + dropout());
  };
  const Part layer =
      in("attention", "SqueezeBertSelfAttention",
         grouped("query", s.hidden, s.hidden, "q_groups", 4) +
             grouped("key", s.hidden, s.hidden, "k_groups", 4) +
             grouped("value", s.hidden, s.hidden, "v_groups", 4) + dropout() +
             module("softmax", "Softmax") + module("matmul_qk", "MatMulWrapper") +
             module("matmul_qkv", "MatMulWrapper")) +
      closing("post_attention", s.hidden, "post_attention_groups", 1) +
      in("intermediate", "ConvActivation",
         grouped("conv1d", s.hidden, s.inner, "intermediate_groups", 4) + module("act", s.act)) +
      closing("output", s.inner, "output_groups", 4);
  Part body =
      embeddings(f, s, s.hidden, s.positions, position_ids(s.positions)) +
      in("encoder", f + "Encoder", stack("layers", f + "Module", s.layers, [&] { return layer; })) +
      bert_pooler(f, s.hidden);
  if (is_for(c, f + "Model")) return body;
  return with_masked_head(base, s, in(base, f + "Model", std::move(body)) + bert_masked_head(f, s));
}

/// Convolutions replace half of the heads (head_ratio). Their kernels depend on the tokens. Source:
/// transformers 5.23, models/convbert/modeling_convbert.py.
Part convbert(const Config& c) {
  const std::string f = "ConvBert";
  const BertSizes s = bert_sizes(c);
  const Size width = c.dim({"embedding_size"}, s.hidden), kernel = c.dim({"conv_kernel_size"}, 9);
  const Size ratio = c.dim({"head_ratio"}, 2), groups = c.dim({"num_groups"}, 1);
  if (groups != 1) c.fail("num_groups", "grouped linear layers are not described");
  const Size heads = s.heads < ratio ? 1 : s.heads / ratio;
  const Size dim = s.hidden / heads / 2, all = heads * dim;
  const Part self =
      linear("query", s.hidden, all, Bias::yes) + linear("key", s.hidden, all, Bias::yes) +
      linear("value", s.hidden, all, Bias::yes) +
      in("key_conv_attn_layer", "SeparableConv1D",
         tensor("bias", {all, 1}, Role::bias) +
             convolution("depthwise", "Conv1d", {s.hidden, 1, kernel}) +
             convolution("pointwise", "Conv1d", {all, s.hidden, 1})) +
      linear("conv_kernel_layer", all, heads * kernel, Bias::yes) +
      linear("conv_out_layer", s.hidden, all, Bias::yes) + module("unfold", "Unfold") + dropout();
  Part body = embeddings(f, s, width, s.positions, both_ids(s.positions));
  if (width != s.hidden)
    body = std::move(body) + linear("embeddings_project", width, s.hidden, Bias::yes);
  body = std::move(body) + in("encoder", f + "Encoder", stack("layer", f + "Layer", s.layers, [&] {
                                return layer_around(f, s, in("self", f + "SelfAttention", self));
                              }));
  if (is_for(c, f + "Model")) return body;
  body = in("convbert", f + "Model", std::move(body)) +
         in("generator_predictions", f + "GeneratorPredictions",
            module("activation", "GELUActivation") + layer_norm("LayerNorm", width) +
                linear("dense", s.hidden, width, Bias::yes)) +
         output_head("generator_lm_head", width, s.vocab, Bias::yes);
  if (!s.tied) return body;
  return tied(std::move(body), "generator_lm_head.weight",
              "convbert.embeddings.word_embeddings.weight");
}

}  // namespace headroom::model::families::efficient_encoders
