// The text model of MiniMax-M3: a mixture with one shared expert. In some layers an indexer selects
// the blocks of tokens to attend to.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::minimax_m3 {

/// The names that transformers' class has, or those of the checkpoint.
enum class Naming { transformers, checkpoint };

const Classes k{"MiniMaxM3VL"};

/// Selects the blocks of tokens that a layer attends to.
Part indexer(Naming naming, Size hidden, Size index_heads, Size index_dim) {
  const bool apart = naming == Naming::transformers;
  const std::string start = apart ? "" : "index_";
  Part picks = linear(start + "q_proj", hidden, index_heads * index_dim) +
               linear(start + "k_proj", hidden, index_dim) +
               rms_norm(start + "q_norm", k("RMSNorm"), index_dim) +
               rms_norm(start + "k_norm", k("RMSNorm"), index_dim);
  picks.caches = {
      {.kind = CacheKind::indexer, .per_token = index_dim, .score_dims = index_heads * index_dim}};
  return apart ? in("indexer", k("Indexer"), std::move(picks)) : picks;
}

Part gated(Naming naming, Size hidden, Size width) {
  return (naming == Naming::transformers
              ? linear("gate_up_proj", hidden, 2 * width)
              : linear("gate_proj", hidden, width) + linear("up_proj", hidden, width)) +
         linear("down_proj", width, hidden);
}

Part mixture_of(const Config& c, Naming naming, Size hidden) {
  const Size inner = c.dim({"intermediate_size"});
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part experts = stacked_experts(hidden, inner, r);
  const bool old = naming == Naming::transformers;
  return in(old ? "mlp" : "block_sparse_moe", k("SparseMoeBlock"),
            (old ? corrected_router("gate", k("TopKRouter"), hidden, r.experts)
                 : router("gate", k("TopKRouter"), hidden, r.experts) +
                       in_fp32(score_correction(r.experts))) +
                in("experts", k("Experts"), experts) +
                in("shared_experts", k("DenseMLP"),
                   gated(naming, hidden, c.dim({"shared_intermediate_size"}, 3072))));
}

/// A layer with an indexer caches one more key of index_head_dim for each token.
Part text(const Config& c, Naming naming) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c, 4, 128);
  const Config own = c.section_or_empty("sparse_attention_config");
  const Size index_heads = own.dim({"sparse_num_index_heads"}, c.dim({"index_n_heads"}, 4));
  const Size index_dim = own.dim({"sparse_index_dim"}, c.dim({"index_head_dim"}, 128));
  const Size looked_at = times({own.dim({"sparse_topk_blocks"}, c.dim({"index_topk_blocks"}, 16)),
                                own.dim({"sparse_block_size"}, c.dim({"index_block_size"}, 128))});
  const Part mixture = mixture_of(c, naming, hidden);
  const Part dense =
      in("mlp", k("DenseMLP"), gated(naming, hidden, c.dim({"dense_intermediate_size"}, 12288)));
  const Part picks = indexer(naming, hidden, index_heads, index_dim);
  const auto types = c.texts({"layer_types"});
  const auto listed = own.dims({"sparse_attention_freq"}), mixed = c.dims({"moe_layer_freq"});
  const auto entry = [&](const std::vector<Size>& list, Size i, std::string_view key) {
    if (static_cast<std::size_t>(i) >= list.size()) c.fail(key, "found fewer entries than layers");
    return list[static_cast<std::size_t>(i)] != 0;
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool indexed = !types.empty()
                             ? layer_type(c, types, i) == "minimax_m3_sparse"
                             : !listed.empty() && entry(listed, i, "sparse_attention_freq");
    const bool sparse = c.has("mlp_layer_types")
                            ? is_sparse(c, i, 0)
                            : mixed.empty() || entry(mixed, i, "moe_layer_freq");
    Part attn = attention(hidden, heads) + head_norms(k("RMSNorm"), heads.dim);
    if (indexed) {
      attn.caches[0].picked = looked_at;
      attn = std::move(attn) + picks;
    }
    return decoder_layer(k, hidden, std::move(attn), sparse ? mixture : dense);
  });
  return with_norm(
      with_quirks(
          unsplittable(in("model", k("TextModel"),
                          embedding("embed_tokens", vocab, hidden) + layers +
                              rms_norm("norm", k("RMSNorm"), hidden) +
                              rotary(k("RotaryEmbedding"), rotated_dims(c, heads.dim))) +
                           lm_head("model.embed_tokens.weight", vocab, hidden,
                                   c.flag({"tie_word_embeddings"}, false)),
                       {k("DecoderLayer"), k("VisionEncoderLayer")}),
          {.attention = {.rotation = Rotation::concatenated}, .router = {.converted = false}}),
      k("RMSNorm"), NormKind::rms_plus_1);
}

/// Source: transformers 5.23, models/minimax_m3_vl (MiniMaxM3VLForCausalLM).
Part minimax_m3_text(const Config& c) { return text(c, Naming::transformers); }

/// Source: vLLM 0.33 models/minimax_m3/nvidia/model.py (MiniMaxM3SparseForCausalLM).
Part minimax_m3_sparse(const Config& c) { return text(c, Naming::checkpoint); }

}  // namespace headroom::model::families::minimax_m3
