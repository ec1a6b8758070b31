// DeepSeek-V4. Attention keeps one shared key-value vector for each token of a window, and
// compressed entries for all tokens beyond it. Output projections are grouped. Hyper-connections
// mix the residual streams.
#include "model/describe/architectures/deepseek_v4.hpp"

#include "hardware/units.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::deepseek_v4 {

constexpr std::string_view sliding = "sliding_attention";
constexpr std::string_view sparse = "compressed_sparse_attention";

/// The kind of every layer. layer_types decides, else compress_ratios (0 window alone, 4 sparse,
/// 128 heavy). Without both, two heavy layers come first, then heavy and sparse in turns.
std::string kind_of(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (!types.empty()) return layer_type(c, types, i);
  const auto ratios = c.dims({"compress_ratios"});
  if (!ratios.empty()) {
    if (static_cast<std::size_t>(i) >= ratios.size())
      c.fail("compress_ratios", "found fewer entries than layers");
    const Size ratio = ratios[static_cast<std::size_t>(i)];
    if (ratio == 0) return std::string(sliding);
    if (ratio == 4) return std::string(sparse);
    if (ratio != 128)
      c.fail("compress_ratios", "found " + std::to_string(ratio) + ", expected 0, 4 or 128");
  } else if (i >= 2 && i % 2 == 1) {
    return std::string(sparse);
  }
  return "heavily_compressed_attention";
}

/// Tokens for each compressed entry of a layer of `kind`.
Size rate_of(const Config& c, const std::string& kind) {
  const bool is_sparse = kind == sparse;
  const std::string_view old = is_sparse ? "compress_rate_csa" : "compress_rate_hca";
  return c.section_or_empty("compress_rates").dim({kind}, c.dim({old}, is_sparse ? 4 : 128));
}

Part tables(Classes k, Size rotated) {
  Part all;
  for (const std::string kind : {"main", "compress"})
    all = std::move(all) + buffer(kind + "_inv_freq", {rotated / 2}) +
          buffer(kind + "_original_inv_freq", {rotated / 2});
  return in("rotary_emb", k("RotaryEmbedding"), std::move(all));
}

/// Sums `rate` tokens to one entry of `dim` elements. In the sparse kind two entries overlap.
Part compressor(Classes k, Size hidden, Size dim, Size width, Size rate, Size rotated) {
  return in_fp32(tensor("position_bias", {rate, width}, Role::other)) +
         linear("kv_proj", hidden, width) + linear("gate_proj", hidden, width) +
         rms_norm("kv_norm", k("RMSNorm"), dim) + tables(k, rotated);
}

DeepSeekSizes sizes_of(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"num_attention_heads"}), dim = c.dim({"head_dim"}, 512);
  const Size rank = c.dim({"q_lora_rank"}, 1024), groups = c.dim({"o_groups"}, 8);
  const Size out = times({groups, c.dim({"o_lora_rank"}, 1024)});
  const Size index_heads = c.dim({"index_n_heads"}, 64), index_dim = c.dim({"index_head_dim"}, 128);
  const double share = c.number(
      {"partial_rotary_factor"},
      static_cast<double>(c.dim({"qk_rope_head_dim"}, dim / 8)) / static_cast<double>(dim));
  const Size rotated = static_cast<Size>(share * static_cast<double>(dim));
  return {hidden, vocab, heads, dim, rank, groups, out, index_heads, index_dim, rotated};
}

/// Bytes of an entry in FP8: rotated elements in 16 bit, a byte of scale for every 64 others, these
/// rounded up to 8. Source: vLLM 0.33 models/deepseek_v4/attention.py (584 bytes).
Size fp8_entry_bytes(const DeepSeekSizes& s) {
  const Size plain = s.dim - s.rotated;
  return plain + round_up((plain + 63) / 64, 8) + 2 * s.rotated;
}

/// Keys and scores of `width` elements each, for the last `tokens` tokens.
/// Source: vLLM 0.33 models/deepseek_v4/compressor.py, CompressorStateCache.
Cache waiting(Size tokens, Size width) {
  return {.kind = CacheKind::waiting,
          .per_sequence = tokens * 2 * width,
          .window = tokens,
          .entry_bytes = 8 * width,
          .page_tokens = tokens <= 8 ? 4 : 8};
}

/// Picks the entries that a sparse layer attends to.
Part indexer(Classes k, const DeepSeekSizes& s, Size rate) {
  Part p = in_fp32(tensor("position_bias", {rate, 2 * s.index_dim}, Role::other)) +
           linear("kv_proj", s.hidden, 2 * s.index_dim) +
           linear("gate_proj", s.hidden, 2 * s.index_dim) +
           rms_norm("kv_norm", k("RMSNorm"), s.index_dim) +
           linear("q_b_proj", s.rank, s.index_heads * s.index_dim) + tables(k, s.rotated) +
           in("scorer", k("IndexerScorer"), linear("weights_proj", s.hidden, s.index_heads));
  p.caches = {{.kind = CacheKind::indexer,
               .per_token = divided_up(s.index_dim, rate),
               .score_dims = s.index_heads * s.index_dim / rate,
               .entry_tokens = rate,
               .entry_bytes = fp8_index_bytes(s.index_dim),
               .page_tokens = compressed_page},
              waiting(2 * rate, 2 * s.index_dim)};
  return p;
}

Part window_attention(const Config& c, Classes k, const DeepSeekSizes& s, Size page_tokens,
                      Size sm100_entry_bytes) {
  Part p = in_fp32(tensor("sinks", {s.heads}, Role::other)) + linear("q_a_proj", s.hidden, s.rank) +
           rms_norm("q_a_norm", k("RMSNorm"), s.rank) +
           linear("q_b_proj", s.rank, s.heads * s.dim) +
           module("q_b_norm", k("UnweightedRMSNorm")) + linear("kv_proj", s.hidden, s.dim) +
           rms_norm("kv_norm", k("RMSNorm"), s.dim) +
           in("o_a_proj", k("GroupedLinear"),
              tensor("weight", {s.out, s.heads * s.dim / s.groups}, Role::matmul)) +
           linear("o_b_proj", s.out, s.hidden);
  p.caches = {{.kind = CacheKind::latent,
               .per_token = s.dim,
               .window = c.dim({"sliding_window"}, 128),
               .score_dims = 2 * s.heads * s.dim,
               .expanded_per_token = 2 * s.dim,
               .entry_bytes = fp8_entry_bytes(s),
               .sm100_entry_bytes = sm100_entry_bytes,
               .page_tokens = page_tokens}};
  return p;
}

Part attention_of(const Config& c, Classes k, const DeepSeekSizes& s, const std::string& kind) {
  const bool picks = kind == sparse;
  constexpr Size page_tokens = 64;  // vLLM 0.33 v1/attention/backends/mla/sparse_swa.py
  Part p = window_attention(c, k, s, page_tokens);
  if (kind == sliding) return p;
  const Size rate = rate_of(c, kind), width = picks ? 2 * s.dim : s.dim;
  Part inner = compressor(k, s.hidden, s.dim, width, rate, s.rotated);
  inner.caches = {{.kind = CacheKind::latent,
                   .per_token = divided_up(s.dim, rate),
                   .picked = picks ? times({c.dim({"index_topk"}, 512), rate}) : 0,
                   .score_dims = 2 * s.heads * s.dim / rate,
                   .expanded_per_token = divided_up(s.dim, rate),
                   .entry_tokens = rate,
                   .entry_bytes = fp8_entry_bytes(s),
                   .page_tokens = compressed_page},
                  waiting(picks ? 2 * rate : rate, width)};
  if (picks) inner = std::move(inner) + in("indexer", k("Indexer"), indexer(k, s, rate));
  return std::move(p) +
         in("compressor", k(picks ? "CSACompressor" : "HCACompressor"), std::move(inner));
}

/// True for the first layers: the token alone selects the experts.
bool selects_by_token(const Config& c, Size layer) {
  const auto types = c.texts({"mlp_layer_types"});
  return types.empty() ? layer < c.count({"num_hash_layers"}, 3)
                       : layer_type(c, types, layer, "mlp_layer_types") == "hash_moe";
}

Part mixture_of(const Config& c, Classes k, const DeepSeekSizes& s, Routing r, Part gate) {
  const Size experts = c.dim({"moe_intermediate_size", "intermediate_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return in("mlp", k("SparseMoeBlock"),
            std::move(gate) + fused_experts(k("Experts"), s.hidden, experts, r, act) +
                in("shared_experts", k("MLP"),
                   gated_mlp(s.hidden, experts, act, c.bias({"mlp_bias"}, false))));
}

Part scores(const Config& c, const DeepSeekSizes& s, Size experts) {
  return tensor("weight", {experts, s.hidden}, Role::matmul) +
         module("score_fn", activation_class(c, {"scoring_func"}, "sqrtsoftplus"));
}

/// Experts of a layer, selected by the token alone where `hashed`.
Part mixture(const Config& c, Classes k, const DeepSeekSizes& s, bool hashed) {
  const Routing r = shared_routing_of(c);
  const Part score = scores(c, s, r.experts);
  return mixture_of(c, k, s, r,
                    hashed ? in("gate", k("HashRouter"),
                                score + buffer("tid2eid", {s.vocab, r.used}, Element::int64, true))
                           : in("gate", k("TopKRouter"), score + score_correction(r.experts)));
}

/// Mixes the residual streams before attention and before the experts.
Part connections(Classes k, Size hidden, Size streams) {
  const Size mixed = (2 + streams) * streams;
  const auto connection = [&](std::string_view name) {
    return in(name, k("HyperConnection"),
              in_fp32(tensor("fn", {mixed, streams * hidden}, Role::matmul) +
                      tensor("base", {mixed}, Role::other) + tensor("scale", {3}, Role::other)) +
                  module("input_norm", k("UnweightedRMSNorm")));
  };
  return connection("attn_hc") + connection("ffn_hc");
}

/// Joins the residual streams before the head.
Part join(Classes k, Size hidden, Size streams) {
  return in(
      "hc_head", k("HyperHead"),
      in_fp32(tensor("hc_fn", {streams, streams * hidden}, Role::matmul) +
              tensor("hc_base", {streams}, Role::other) + tensor("hc_scale", {1}, Role::other)) +
          module("input_norm", k("UnweightedRMSNorm")));
}

/// Source: transformers 5.23, models/deepseek_v4. A layer keeps the last sliding_window tokens. For
/// every `rate` tokens of the context it also keeps an entry of head_dim and, if sparse, one of
/// index_head_dim. Tokens that wait for the next entry are not counted. The first layers select
/// experts by token.
Part deepseek_v4(const Config& c) {
  const Classes k{"DeepseekV4"};
  const DeepSeekSizes s = sizes_of(c);
  const Size hidden = s.hidden, vocab = s.vocab, streams = c.dim({"hc_mult"}, 4);
  const auto kind = [&](Size i) { return std::pair(kind_of(c, i), selects_by_token(c, i)); };
  const auto layer = [&](Size i) {
    const auto [attention, hashed] = kind(i);
    return decoder_layer(k, hidden, attention_of(c, k, s, attention), mixture(c, k, s, hashed)) +
           connections(k, hidden, streams);
  };
  const Part layers =
      stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), by_kind(kind, layer));
  return with_norm(
      with_quirks(unsplittable(in("model", k("Model"),
                                  embedding("embed_tokens", vocab, hidden) + layers +
                                      rms_norm("norm", k("RMSNorm"), hidden) +
                                      tables(k, s.rotated) + join(k, hidden, streams)) +
                                   lm_head("model.embed_tokens.weight", vocab, hidden,
                                           c.flag({"tie_word_embeddings"}, false)),
                               {k("DecoderLayer")}),
                  {.attention = {.scores_only = true, .compresses = s.rotated},
                   .router = {.kind = RouterKind::root_softplus},
                   .balancing_steps = c.dim({"hc_sinkhorn_iters"}, 20),
                   .clamps_gating = true}),
      k("RMSNorm"), NormKind::rms_fp32);
}

/// A layer that looks at the window alone, with a projection of its own for each of two inputs.
/// Source: vLLM 0.33, models/deepseek_v4/nvidia/mtp.py.
Part predictor(const Config& c, Size number) {
  const Classes k{"DeepseekV4"};
  const DeepSeekSizes s = sizes_of(c);
  const Size hidden = s.hidden, streams = c.dim({"hc_mult"}, 4);
  return in("mtp." + std::to_string(number), k("DecoderLayer"),
            decoder_layer(k, hidden, attention_of(c, k, s, std::string(sliding)),
                          mixture(c, k, s, false)) +
                connections(k, hidden, streams) + linear("e_proj", hidden, hidden) +
                linear("h_proj", hidden, hidden) + rms_norm("enorm", k("RMSNorm"), hidden) +
                rms_norm("hnorm", k("RMSNorm"), hidden) + rms_norm("norm", k("RMSNorm"), hidden) +
                join(k, hidden, streams));
}

Part dspark_input(const Config& c, Classes k, Size hidden) {
  const auto targets = static_cast<Size>(c.dims({"dspark_target_layer_ids"}).size());
  return linear("main_proj", times({targets, hidden}), hidden) +
         rms_norm("main_norm", k("RMSNorm"), hidden);
}

Part dspark_heads(const Config& c, Classes k, const DeepSeekSizes& s) {
  const Size rank = c.dim({"dspark_markov_rank"}, 256);
  return rms_norm("norm", k("RMSNorm"), s.hidden) +
         in("markov_head", "DSparkMarkovHead",
            embedding("embed", s.vocab, rank) + output_head("head", rank, s.vocab)) +
         in("confidence_head", "DSparkConfidenceHead", linear("proj", s.hidden + rank, 1));
}

/// DSpark: the first layer projects outputs of several layers, the last has the heads.
/// Source: vLLM 0.33, models/deepseek_v4/nvidia/dspark.py.
Part dspark_predictor(const Config& c, Size number) {
  const Classes k{"DeepseekV4"};
  const DeepSeekSizes s = sizes_of(c);
  const Size streams = c.dim({"hc_mult"}, 4);
  Part p = decoder_layer(k, s.hidden, attention_of(c, k, s, std::string(sliding)),
                         mixture(c, k, s, false)) +
           connections(k, s.hidden, streams);
  if (number == 0) p = std::move(p) + dspark_input(c, k, s.hidden);
  if (number + 1 == c.count({"n_mtp_layers"}, 3))
    p = std::move(p) + dspark_heads(c, k, s) + join(k, s.hidden, streams);
  return in("mtp." + std::to_string(number), k("DecoderLayer"), std::move(p));
}

}  // namespace headroom::model::families::deepseek_v4
