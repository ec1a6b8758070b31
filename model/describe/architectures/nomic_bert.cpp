// Nomic's BERT (arXiv:2402.01613): rotary positions and a gated feed-forward, or experts without a
// gate in some layers (arXiv:2502.07972).
#include <boost/json.hpp>

#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::nomic_bert {

/// A feed-forward with a gate, or without one.
Part feed_forward(const Config& c, const BertSizes& s, bool gated) {
  const Bias up = c.bias({"mlp_fc1_bias"}, false), down = c.bias({"mlp_fc2_bias"}, false);
  if (!gated)
    return in("mlp", "NomicBertMLP",
              linear("fc1", s.hidden, s.inner, up) + linear("fc2", s.inner, s.hidden, down) +
                  module("activation", s.act));
  if (up == Bias::yes || down == Bias::yes)
    c.fail("mlp_fc1_bias", "found true, expected false where activation_function is swiglu");
  return in("mlp", "NomicBertMLP", gated_mlp(s.hidden, s.inner, s.act));
}

/// Experts without a gate, which share one bias. Source: vLLM 0.33 bert_with_rope.py, NomicMoE.
Part mixture(const Config& c, const BertSizes& s) {
  const Routing r = routing_of(c, {"num_experts"}, {"moe_top_k"});
  const Part matrices = routed(tensor("w1", {r.experts, s.inner, s.hidden}, Role::matmul) +
                                   tensor("w2", {r.experts, s.hidden, s.inner}, Role::matmul),
                               r);
  return in("mlp", "NomicMoELayer",
            in("router", "NomicRouter", linear("layer", s.hidden, r.experts)) +
                in("experts", "NomicExperts",
                   in("mlp", "NomicExpertMLP", matrices) + tensor("bias", {s.hidden}, Role::bias) +
                       module("activation", s.act)));
}

/// True if layer `i` is a mixture: the second of each moe_every_n_layers.
bool mixes(const Config& c, Size i) {
  const Size every = c.dim_or_none({"moe_every_n_layers"}, 0);
  return every > 0 && i % every == 1;
}

/// Files written for Nomic's own code name the sizes as GPT-2 does. Other options of that code are
/// refused. Sources: transformers 5.23, models/nomic_bert/modeling_nomic_bert.py; for biases and
/// experts vLLM 0.33 bert_with_rope.py.
Part nomic_bert(const Config& file) {
  const Config c = file.renamed({{"n_embd", "hidden_size"},
                                 {"n_head", "num_attention_heads"},
                                 {"n_inner", "intermediate_size"},
                                 {"n_layer", "num_hidden_layers"},
                                 {"n_positions", "max_position_embeddings"}});
  if (c.flag({"prenorm"}, false)) c.fail("prenorm", "found true, expected false");
  const std::string own = c.text({"activation_function"}, "swiglu");
  if (own != "swiglu" && own != "gelu")
    c.fail("activation_function", "found '" + own + "', expected swiglu or gelu");
  const bool gated = own == "swiglu";
  BertSizes s = bert_sizes(c);
  s.act = gated ? activation_class(c, {"hidden_act"}, "silu") : "GELUActivation";
  const Size dim = c.dim({"head_dim"}, s.hidden / s.heads), width = dim * s.heads;
  const Bias bias = c.bias({"qkv_proj_bias"}, false);
  const auto layer = [&](Size i) {
    return layer_norm("post_attention_layernorm", s.hidden) + dropout("post_attention_dropout") +
           dropout("post_mlp_dropout") + (mixes(c, i) ? mixture(c, s) : feed_forward(c, s, gated)) +
           in("self_attn", "NomicBertAttention",
              linear("q_proj", s.hidden, width, bias) + linear("k_proj", s.hidden, width, bias) +
                  linear("v_proj", s.hidden, width, bias) +
                  linear("o_proj", width, s.hidden, bias)) +
           layer_norm("post_mlp_layernorm", s.hidden);
  };
  Part body = in("embeddings", "NomicBertEmbeddings",
                 embedding("word_embeddings", s.vocab, s.hidden) +
                     embedding("token_type_embeddings", s.types, s.hidden) +
                     layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions) +
                     position_ids(s.positions, "token_type_ids")) +
              frequencies("rotary_emb", "NomicBertRotaryEmbedding", dim / 2) +
              with_quirks(stack("layers", "NomicBertLayer", s.layers, layer),
                          {.attention = {.rotation = Rotation::added, .softmax_fp32 = false},
                           .norms_the_sum = true});
  const auto whole = [](Part part) {
    return unsplittable(std::move(part), {"NomicBertEmbeddings", "NomicBertLayer"});
  };
  if (is_for(c, "NomicBertModel")) return whole(std::move(body));
  Part p = whole(
      in("nomic_bert", "NomicBertModel", std::move(body)) +
      in("cls", "NomicBertOnlyMLMHead",
         in("predictions", "NomicBertLMPredictionHead",
            tensor("bias", {s.vocab}, Role::bias) +
                in("transform", "NomicBertPredictionHeadTransform",
                   linear("dense", s.hidden, s.hidden, Bias::yes) +
                       module("transform_act_fn", s.act) + layer_norm("layer_norm", s.hidden)) +
                output_head("decoder", s.hidden, s.vocab, Bias::yes))));
  return with_tied_decoder(std::move(p), "cls.predictions.decoder", "cls.predictions.bias",
                           "nomic_bert.embeddings.word_embeddings.weight", s);
}

}  // namespace headroom::model::families::nomic_bert
