// LongCat-Flash (arXiv:2509.01322): each layer has two attentions, two feed-forwards and one
// mixture. Some experts of the mixture return their input unchanged. LongCat-Flash-Lite adds
// embeddings of hashed n-grams.
#include "model/describe/architectures/longcat_flash.hpp"

#include <algorithm>

#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::longcat_flash {

/// Experts that compute nothing have no weights (vLLM 0.33 longcat_flash.py, and the published
/// count of LongCat-Flash-Chat). transformers 5.23 gives them rows of gate_up_proj: see
/// as_reference.
Part longcat_flash(const Config& c) {
  const Classes k{"LongcatFlash"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size inner = c.dim({"expert_ffn_hidden_size", "moe_intermediate_size"});
  const Size experts = c.dim({"n_routed_experts"}), zero = c.count({"zero_expert_num"}, 256);
  const Routing r{experts + zero, c.dim({"moe_topk", "num_experts_per_tok"})};
  const Latent a = latent_of(c);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const auto twice = [](std::string_view name, const Part& one, std::string_view class_name) {
    return in(name, "ModuleList", in("0", class_name, one) + in("1", class_name, one));
  };
  const Part mixture =
      in("experts", k("Experts"),
         routed(tensor("gate_up_proj", {experts, 2 * inner, hidden}, Role::matmul) +
                    tensor("down_proj", {experts, hidden, inner}, Role::matmul),
                r) +
             module("act_fn", act) + module("identity_expert", "Identity")) +
      in("router", k("TopkRouter"),
         linear("classifier", hidden, r.experts, c.bias({"router_bias"}, false)) +
             score_correction(r.experts));
  const Part norm = tensor("weight", {hidden}, Role::norm);
  const Part layer =
      in("mlp", k("MoE"), mixture) +
      twice("self_attn",
            latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)),
            k("MLA")) +
      twice("mlps", gated_mlp(hidden, c.dim({"ffn_hidden_size", "intermediate_size"}), act),
            k("MLP")) +
      twice("input_layernorm", norm, k("RMSNorm")) +
      twice("post_attention_layernorm", norm, k("RMSNorm"));
  return with_quirks(
      unsplittable(
          in("model", k("Model"),
             embedding("embed_tokens", vocab, hidden) +
                 stack("layers", k("DecoderLayer"), c.dim({"num_layers"}), [&] { return layer; }) +
                 rms_norm("norm", k("RMSNorm"), hidden) + rotary(k("RotaryEmbedding"), a.rope)) +
              lm_head("model.embed_tokens.weight", vocab, hidden,
                      c.flag({"tie_word_embeddings"}, false)),
          {k("DecoderLayer")}),
      {.router = {.kind = RouterKind::softmax_fp32, .one_by_one = true}});
}

/// Source: vLLM 0.33 longcat_flash_mtp.py.
Part predictor(const Config& c, Size number) {
  const Classes k{"LongcatFlash"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string norm = k("RMSNorm");
  Part layer = rms_norm("enorm", norm, hidden) + rms_norm("hnorm", norm, hidden) +
               linear("eh_proj", 2 * hidden, hidden) +
               in("self_attn", k("MLA"),
                  latent_attention(hidden, latent_of(c), norm, c.bias({"attention_bias"}, false))) +
               in("mlp", k("MLP"),
                  gated_mlp(hidden, c.dim({"ffn_hidden_size", "intermediate_size"}),
                            activation_class(c, {"hidden_act"}, "silu"))) +
               rms_norm("input_layernorm", norm, hidden) +
               rms_norm("post_attention_layernorm", norm, hidden) +
               rms_norm("final_layernorm", norm, hidden);
  layer = in("model.mtp.layers." + std::to_string(number), k("DecoderLayer"), std::move(layer));
  if (number > 0) return layer;
  Part copy = at("model.mtp", embedding("embed_tokens", c.dim({"vocab_size"}), hidden));
  copy.tensors.at(0).tied_to = "model.embed_tokens.weight";
  return std::move(layer) + std::move(copy);
}

/// Tables of n-grams: emb_split_num for each length from 2 to emb_neighbor_num. Table i has
/// ngram_vocab_size_ratio · vocabulary + 2 i + 1 rows, and a matrix from its width to the hidden
/// size. Source: vLLM 0.33 longcat_flash_ngram.py.
Part longcat_flash_ngram(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size tables =
      times({c.dim({"emb_split_num"}), std::max<Size>(c.dim({"emb_neighbor_num"}) - 1, 1)});
  if (tables > most_layers || hidden < tables)
    c.fail("emb_split_num", "found " + std::to_string(tables) + " tables, expected at most " +
                                std::to_string(std::min(most_layers, hidden)));
  const Size rows = times({c.dim({"ngram_vocab_size_ratio"}), vocab}), width = hidden / tables;
  Part embedders{.modules = {{"embedders", "ModuleList"}}};
  Part projections{.modules = {{"post_projs", "ModuleList"}}};
  for (Size i = 0; i < tables; ++i) {
    const std::string name = std::to_string(i);
    embedders = std::move(embedders) +
                at("embedders", looked_up(embedding(name, rows + 2 * i + 1, width), 1));
    projections = std::move(projections) + at("post_projs", linear(name, width, hidden));
  }
  return longcat_flash(c) + at("model", in("ngram_embeddings", "NgramEmbedding",
                                           std::move(embedders) + std::move(projections)));
}

}  // namespace headroom::model::families::longcat_flash
