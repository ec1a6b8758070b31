// DeepSeek-V4.1: DeepSeek-V4's attention with compressed caches that several layers read, tables of
// n-grams ("engram") and a vision tower. DeepSeek-V4's vision version has the same tower.
#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/deepseek_v4.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families {

namespace deepseek_v4 {

/// Source: vLLM 0.33, models/deepseek_v4/common/vision.py.
Part vision_parts(const VisionSizes& v, Size hidden) {
  const std::string k = "DeepseekV4";
  const auto norm = [&](std::string_view name) { return rms_norm(name, k + "RMSNorm", v.width); };
  const Part layer = norm("norm1") +
                     in("attn", k + "VisionAttention",
                        linear("wqkv", v.width, 3 * v.width, Bias::yes) +
                            linear("wo", v.width, v.width, Bias::yes)) +
                     norm("norm2") +
                     in("mlp", k + "VisionMLP",
                        linear("w1", v.width, 2 * v.inner) + linear("w2", v.inner, v.width));
  const Part tower =
      in("vision", k + "ViT",
         in("patch_embed", k + "PatchEmbed",
            linear("proj", times({3, v.patch, v.patch}), v.width, Bias::yes)) +
             stack("blocks", k + "VisionBlock", v.layers, [&] { return layer; }) + norm("norm"));
  return tower + in("aligner", k + "Aligner",
                    linear("w1", times({v.width, v.side, v.side}), hidden, Bias::yes) +
                        linear("w2", hidden, hidden, Bias::yes));
}

Part image_marks(std::initializer_list<std::string_view> names, Size hidden) {
  Part all;
  for (const std::string_view name : names)
    all = std::move(all) + tensor(name, {hidden}, Role::other);
  return all;
}

}  // namespace deepseek_v4

namespace deepseek_v41 {

const Classes k{"DeepseekV41"};

bool lists(const std::vector<Size>& layers, Size i) {
  return std::find(layers.begin(), layers.end(), i) != layers.end();
}

/// Layers from `i` on that read what it caches: all before the next of `sources`.
Size readers_of(const std::vector<Size>& sources, Size i, Size layers) {
  Size end = layers;
  for (const Size source : sources)
    if (source > i) end = std::min(end, source);
  return end - i;
}

/// Tokens of a page of the window. Source: vLLM 0.33, models/deepseek_v41/attention.py.
constexpr Size window_page = 32;

/// Bytes of an entry in MXFP8: all elements in FP8, a byte of scale for every 32. Kernels for
/// compute capability 10.x read these, others DeepSeek-V4's. Source: vLLM 0.33
/// models/deepseek_v41/attention.py _use_v41_mxfp8_kv_record (528 bytes), since 0.30.
Size mxfp8_entry_bytes(const deepseek_v4::DeepSeekSizes& s) { return s.dim + (s.dim + 31) / 32; }

Part windowed(const Config& c, const deepseek_v4::DeepSeekSizes& s) {
  return deepseek_v4::window_attention(c, k, s, window_page, mxfp8_entry_bytes(s));
}

/// Tokens of a compressed entry: 1 or 2. 0: the layer looks at the window alone.
Size ratio_of(const Config& c, Size i) {
  const auto ratios = c.dims({"compress_ratios"});
  const Size ratio =
      static_cast<std::size_t>(i) < ratios.size() ? ratios[static_cast<std::size_t>(i)] : 0;
  if (ratio < 0 || ratio > 2)
    c.fail("compress_ratios", "found " + std::to_string(ratio) + ", expected 0, 1 or 2");
  return ratio;
}

/// Compressed entries of a layer in kv_source_layer_ids. All layers before the next source read
/// them, so each entry is scored by as many. Only entries of two tokens have a gate and wait for
/// the second token. Source: vLLM 0.33, models/deepseek_v41/{attention,compressor}.py.
Part compressor(const Config& c, const deepseek_v4::DeepSeekSizes& s, Size ratio, Size readers) {
  constexpr Size waiting_tokens = 8;  // a ring, whatever the context is
  Part p = linear("kv_proj", s.hidden, s.dim);
  if (ratio > 1) p = std::move(p) + linear("gate_proj", s.hidden, s.dim);
  p = std::move(p) + rms_norm("kv_norm", k("RMSNorm"), s.dim);
  p.caches = {{.kind = CacheKind::latent,
               .per_token = s.dim / ratio,
               .picked = times({c.dim({"index_topk"}, 512), ratio}),
               .score_dims = times({readers, 2 * s.heads, s.dim}) / ratio,
               .expanded_per_token = s.dim / ratio,
               .entry_tokens = ratio,
               .entry_bytes = deepseek_v4::fp8_entry_bytes(s),
               .sm100_entry_bytes = mxfp8_entry_bytes(s),
               .page_tokens = deepseek_v4::compressed_page}};
  if (ratio > 1)
    p.caches.push_back({.kind = CacheKind::waiting,
                        .per_sequence = waiting_tokens * 2 * s.dim,
                        .entry_bytes = 8 * s.dim,
                        .page_tokens = waiting_tokens});
  return in("compressor", k("Compressor"), std::move(p));
}

/// Picks entries for the layers from here to the next index source. Its keys come from the
/// compressor and are cached where the entries are. `scorers` index sources score them.
Part indexer(const deepseek_v4::DeepSeekSizes& s, Size ratio, bool owns_keys, Size scorers) {
  Part p = linear("q_b_proj", s.rank, s.index_heads * s.index_dim) +
           in("scorer", k("IndexerScorer"), linear("weights_proj", s.hidden, s.index_heads));
  if (owns_keys) {
    p = std::move(p) + linear("wk", s.dim, s.index_dim) +
        rms_norm("k_norm", k("RMSNorm"), s.index_dim);
    p.caches = {{.kind = CacheKind::indexer,
                 .per_token = s.index_dim / ratio,
                 .score_dims = times({scorers, s.index_heads, s.index_dim}) / ratio,
                 .entry_tokens = ratio,
                 .entry_bytes = fp8_index_bytes(s.index_dim),
                 .sm100_entry_bytes = fp8_index_bytes(s.index_dim),
                 .page_tokens = deepseek_v4::compressed_page}};
  }
  return in("indexer", k("Indexer"), std::move(p));
}

Part attention_of(const Config& c, const deepseek_v4::DeepSeekSizes& s, Size i) {
  Part p = windowed(c, s);
  const Size ratio = ratio_of(c, i), layers = c.dim({"num_hidden_layers"});
  if (ratio == 0) return p;
  const auto sources = c.dims({"kv_source_layer_ids"}), picks = c.dims({"index_source_layer_ids"});
  if (sources.empty() || sources.front() > i)
    c.fail("kv_source_layer_ids", "names no layer at or before layer " + std::to_string(i));
  const bool owns = lists(sources, i);
  const Size readers = owns ? readers_of(sources, i, layers) : 0;
  if (owns) p = std::move(p) + compressor(c, s, ratio, readers);
  if (!lists(picks, i)) return p;
  Size scorers = 0;
  for (const Size at : picks) scorers += at >= i && at < i + readers ? 1 : 0;
  return std::move(p) + indexer(s, ratio, owns, scorers);
}

/// Rows of hashed n-grams, which a gate writes into the residual streams. Rows are looked up.
/// Source: vLLM 0.33, models/deepseek_v41/common/engram.py.
Part engram(const Config& c, const deepseek_v4::DeepSeekSizes& s, std::size_t index) {
  const auto rows = c.dims({"engram_num_embeddings"});
  if (index >= rows.size()) c.fail("engram_num_embeddings", "found fewer entries than layers");
  const Size dim = c.dim({"engram_head_dim"}), streams = c.dim({"hc_mult"}, 4);
  const Size columns = times({c.dim({"engram_max_ngram_size"}) - 1, c.dim({"engram_n_heads"})});
  return in("engram", k("Engram"),
            tensor("q_weight", {streams, s.hidden}, Role::other) +
                tensor("k_weight", {streams, s.hidden}, Role::other) +
                looked_up(embedding("embed", rows[index], dim), columns) +
                linear("wkv", times({columns, dim}), times({s.hidden, streams + 1})));
}

/// Images have an offset of their own for each expert.
Part experts(const Config& c, const deepseek_v4::DeepSeekSizes& s, Routing r, bool sees) {
  Part gate = deepseek_v4::scores(c, s, r.experts) + score_correction(r.experts);
  if (sees) gate = std::move(gate) + in_fp32(tensor("bias_vl", {r.experts}, Role::other));
  return deepseek_v4::mixture_of(c, k, s, r, in("gate", k("TopKRouter"), std::move(gate)));
}

Part layer_of(const Config& c, const deepseek_v4::DeepSeekSizes& s, Part attention, Part mixture) {
  return decoder_layer(k, s.hidden, std::move(attention), std::move(mixture)) +
         deepseek_v4::connections(k, s.hidden, c.dim({"hc_mult"}, 4));
}

/// Source: vLLM 0.33, models/deepseek_v41. There is no learned join of the residual streams.
Part deepseek_v41(const Config& whole) {
  const Config c = section_or_self(whole, "text_config", "deepseek_v41_text");
  const deepseek_v4::DeepSeekSizes s = deepseek_v4::sizes_of(c);
  const Config vision = whole.section_or_empty("vision_config");
  const bool sees = vision.count({"num_hidden_layers"}, 0) > 0;
  const auto hashed = c.dims({"engram_layer_ids"});
  const Part mixture = experts(c, s, shared_routing_of(c), sees);
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    Part layer = layer_of(c, s, attention_of(c, s, i), mixture);
    const auto at = std::find(hashed.begin(), hashed.end(), i);
    if (at == hashed.end()) return layer;
    return std::move(layer) + engram(c, s, static_cast<std::size_t>(at - hashed.begin()));
  });
  Part p = in("model", k("Model"),
              embedding("embed_tokens", s.vocab, s.hidden) + layers +
                  rms_norm("norm", k("RMSNorm"), s.hidden)) +
           lm_head("model.embed_tokens.weight", s.vocab, s.hidden,
                   c.flag({"tie_word_embeddings"}, false));
  if (sees)
    p = std::move(p) +
        deepseek_v4::image_marks({"image_start", "image_end", "image_newline"}, s.hidden) +
        deepseek_v4::vision_parts({.layers = vision.dim({"num_hidden_layers"}),
                                   .width = vision.dim({"hidden_size"}, 1024),
                                   .inner = vision.dim({"intermediate_size"}, 2816),
                                   .patch = vision.dim({"patch_size"}, 14),
                                   .side = vision.dim({"downsample_ratio"}, 3)},
                                  s.hidden);
  return with_norm(unsplittable(std::move(p), {k("DecoderLayer")}), k("RMSNorm"),
                   NormKind::rms_fp32);
}

/// DeepSeek-V4 with a tower. Its keys start with vision_ at the top level.
/// Source: vLLM 0.33, models/deepseek_v4/common/vl_model.py.
Part deepseek_v4_vision(const Config& given) {
  const Config c = with_optional_class_defaults(given, "deepseek_v4");
  const Size hidden = c.dim({"hidden_size"}), layers = c.count({"vision_n_layers"}, 0);
  Part p = deepseek_v4::deepseek_v4(c);
  if (layers == 0) return p;
  const Size experts = shared_routing_of(c).experts;
  for (Size i = 0; i < c.dim({"num_hidden_layers"}); ++i)
    p = std::move(p) + at("model.layers." + std::to_string(i) + ".mlp.gate",
                          in_fp32(tensor("bias_vl", {experts}, Role::other)));
  return std::move(p) +
         deepseek_v4::image_marks({"image_start", "image_end", "image_newline", "image_pad"},
                                  hidden) +
         deepseek_v4::vision_parts({.layers = layers,
                                    .width = c.dim({"vision_dim"}, 1024),
                                    .inner = c.dim({"vision_inter_dim"}, 2816),
                                    .patch = c.dim({"vision_patch_size"}, 14),
                                    .side = c.dim({"vision_downsample_ratio"}, 3)},
                                   hidden);
}

/// The first module projects outputs of several layers, the last has the heads.
/// Source: vLLM 0.33, models/deepseek_v41/nvidia/dspark.py.
Part predictor(const Config& c, Size number) {
  const deepseek_v4::DeepSeekSizes s = deepseek_v4::sizes_of(c);
  const Routing usual = shared_routing_of(c);
  const Routing r{c.dim({"dspark_n_routed_experts"}, usual.experts),
                  c.dim({"dspark_num_experts_per_tok"}, usual.used)};
  Part p = layer_of(c, s, windowed(c, s), experts(c, s, r, true));
  if (number == 0 && c.has("dspark_target_layer_ids"))
    p = std::move(p) + deepseek_v4::dspark_input(c, k, s.hidden);
  if (number + 1 == c.count({"n_mtp_layers", "num_nextn_predict_layers"}, 3))
    p = std::move(p) + deepseek_v4::dspark_heads(c, k, s);
  return in("mtp." + std::to_string(number), k("DecoderLayer"), std::move(p));
}

}  // namespace deepseek_v41

}  // namespace headroom::model::families
