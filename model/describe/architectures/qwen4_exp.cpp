// Qwen4-Exp: gated delta nets, and attention over selected blocks of tokens. Gates mix the residual
// streams. Some layers hash the last few tokens together to look up their embeddings.
#include "model/describe/architectures/qwen4_exp.hpp"

#include <algorithm>

#include "hardware/units.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::qwen4_exp {

constexpr Classes k{"Qwen4ExpText"};

/// An upper limit. No known model has as many hashed heads. Each takes a separate prime.
constexpr Size most_hashed_heads = 4096;

bool is_prime(Size n) {
  if (n < 4) return n > 1;
  if (n % 2 == 0) return false;
  for (Size d = 3; d * d <= n; d += 2)
    if (n % d == 0) return false;
  return true;
}

/// Rows of the table of the `index`-th layer with hashed embeddings. Starting at `base`, each of
/// its `heads` takes the next prime that no earlier layer took. The sum is padded.
Size table_rows(const Config& c, Size index, Size heads) {
  Size prime = c.dim({"ngram_vocab_size_base"}, 20'000'000) - 1, rows = 0;
  for (Size taken = 0; taken < (index + 1) * heads; ++taken) {
    do ++prime;
    while (!is_prime(prime));
    if (taken >= index * heads) rows += prime;
  }
  const Size multiple = c.dim({"make_ngram_vocab_size_divisible_by"}, 128);
  return round_up(rows, multiple);
}

/// The sorted numbers of the layers with hashed embeddings, counted from 1.
std::vector<Size> hashed_layers(const Config& c) {
  auto ids = c.dims({"ple_layer_ids"});
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Embeddings of the last ngram_size tokens, as the child `ple`. The convolution reads every
/// ngram_size-th token. The layer caches its inputs and the previous tokens.
Part hashed_embeddings(const Config& c, Size index, Size streams) {
  const Size hidden = c.dim({"hidden_size"}), tokens = c.dim({"ngram_size"}, 3);
  const Size kernel = c.dim({"ple_conv_kernel_size"}, 4);
  const Size heads = (tokens - 1) * c.dim({"heads_per_ngram"}, 8);
  const Size width = c.dim({"ple_embed_dim"}, hidden);
  if (heads < 1 || width % heads != 0)
    c.fail("ple_embed_dim", "found " + std::to_string(width) + ", expected a multiple of the " +
                                std::to_string(heads) + " heads");
  if ((index + 1) * heads > most_hashed_heads)
    c.fail("heads_per_ngram", "gives more than " + std::to_string(most_hashed_heads) + " heads");
  if (!c.has("eos_token_id")) c.fail("eos_token_id", "is missing, and ple_layer_ids needs it");
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), streams); };
  Part p =
      in("ple_embedding", k("NGramEmbedding"),
         buffer("layer_multipliers", {tokens}, Element::int64, true) +
             buffer("ngram_heads_vocab_sizes", {heads}, Element::int64, true) +
             buffer("ngram_heads_offsets", {heads}, Element::int64, true) +
             looked_up(embedding("ngram_embedding", table_rows(c, index, heads), width / heads),
                       heads)) +
      linear("key_proj", width, streams) + linear("value_proj", width, hidden) + norm("norm_key") +
      norm("norm_query") + norm("norm_conv") + depthwise_conv("conv1d", streams, kernel, Bias::no);
  p.caches = {shifted_state(streams, (kernel - 1) * tokens, tokens - 1)};
  return in("ple", k("PLELayer"), std::move(p));
}

/// Attention over selected blocks of tokens, plus the tokens after the last complete block. An
/// indexer selects blocks by the mean of their keys. Kernels that take the mean at once keep one
/// key in 16 bit for each block. Source: vLLM 0.33, models/qwen4_exp/common/qsa_cache.py.
Part picking_attention(const Config& c, const Heads& heads, Size rotated) {
  const Size hidden = c.dim({"hidden_size"}), block = c.dim({"indexer_compress_ratio"});
  const Size index_heads = c.dim({"indexer_n_heads"}), dim = c.dim({"indexer_head_dim"});
  const Size keys = c.dim({"indexer_kv_heads"}), budget = c.dim({"indexer_budget"});
  if (keys != 1) c.fail("indexer_kv_heads", "found " + std::to_string(keys) + ", expected 1");
  if (budget % block != 0)
    c.fail("indexer_budget",
           "found " + std::to_string(budget) + ", expected a multiple of indexer_compress_ratio");
  if (rotated > dim)
    c.fail("indexer_head_dim", "found " + std::to_string(dim) + ", expected at least the " +
                                   std::to_string(rotated) + " dimensions that are rotated");
  Part p = gated_attention(hidden, heads, k("RMSNorm"), c.bias({"attention_bias"}, false));
  p.caches.front().picked = budget + block - 1;
  Part indexer = linear("index_qk_proj", hidden, (index_heads + keys) * dim) +
                 rms_norm("q_layernorm", k("RMSNorm"), dim) +
                 rms_norm("k_layernorm", k("RMSNorm"), dim);
  indexer.caches = {{.kind = CacheKind::indexer,
                     .per_token = dim,
                     .score_dims = std::max<Size>(index_heads * dim / block, 1),
                     .entry_tokens = block,
                     .entry_bytes = 2 * dim}};
  return in("self_attn", k("Attention"),
            std::move(p) + in("indexer", k("QSAIndexer"), std::move(indexer)));
}

/// Mixes hc_count residual streams into a layer's input. With `inject`, it also mixes the layer's
/// output back into the streams.
Part gated_residual(const Config& c, std::string_view name, Size streams, bool inject) {
  const Size rank = c.dim({"hc_lowrank"}, 320);
  return in(name, k("GatedResidual"),
            rms_norm("hc_norm", k("RMSNorm"), streams) +
                linear("input_mix_weight_down", streams, rank) +
                linear("input_mix_weight_up", rank, streams) +
                (inject ? linear("block_inject_weight", streams, c.dim({"hc_count"}, 4)) : Part{}));
}

/// True if layer `i` has attention. `layer_types` decides, and "full_attention" means
/// "indexed_attention" there. Without it, every full_attention_interval-th layer has attention.
bool attends(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return (i + 1) % c.dim({"full_attention_interval"}, 4) == 0;
  const std::string& type = layer_type(c, types, i);
  if (type != "linear_attention" && type != "indexed_attention" && type != "full_attention")
    c.fail("layer_types",
           "found \"" + type + "\", expected \"linear_attention\" or \"indexed_attention\"");
  return type != "linear_attention";
}

/// A layer with attention over selected blocks.
Part picking_layer(const Config& c) {
  const Size streams = c.dim({"hc_count"}, 4) * c.dim({"hidden_size"});
  Heads heads = heads_of(c);
  heads.dim = c.dim({"head_dim"}, 256);
  return picking_attention(c, heads, rotated_dims(c, heads.dim)) +
         in("mlp", k("SparseMoeBlock"), qwen_mixture(c, k) + qwen_shared_expert(c, k)) +
         gated_residual(c, "attn_hyper_connection", streams, true) +
         gated_residual(c, "mlp_hyper_connection", streams, true);
}

Part text_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Size count = c.dim({"hc_count"}, 4), streams = count * hidden;
  if (count < 2) c.fail("hc_count", "found 1, expected at least 2 streams");
  const Size rotated = rotated_dims(c, c.dim({"head_dim"}, 256));
  const Part picking = picking_layer(c);
  const DeltaNet d = delta_net_of(c);
  const Part delta = in("linear_attn", k("GatedDeltaNet"),
                        gated_delta_net(hidden, d, k("RMSNormGated"),
                                        linear("in_proj_qkv", hidden, d.convolved()) +
                                            linear("in_proj_z", hidden, d.value()) +
                                            linear("in_proj_b", hidden, d.value_heads) +
                                            linear("in_proj_a", hidden, d.value_heads),
                                        Inputs::last));
  const Part mixture =
      in("mlp", k("SparseMoeBlock"), qwen_mixture(c, k) + qwen_shared_expert(c, k));
  const auto hashed = hashed_layers(c);
  if (!hashed.empty() && (hashed.front() < 1 || hashed.back() > layers))
    c.fail("ple_layer_ids", "expected numbers of layers from 1 to " + std::to_string(layers));
  return with_norm(
      with_quirks(
          unsplittable(
              embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
                  stack("layers", k("DecoderLayer"), layers,
                        [&](Size i) {
                          const bool attention = attends(c, i);
                          const auto at = std::find(hashed.begin(), hashed.end(), i + 1);
                          if (at != hashed.end() && attention)
                            c.fail("ple_layer_ids", "names layer " + std::to_string(i + 1) +
                                                        ", which is not of linear attention");
                          if (attention) return picking;
                          return delta + mixture +
                                 (at == hashed.end()
                                      ? Part{}
                                      : hashed_embeddings(c, at - hashed.begin(), streams)) +
                                 gated_residual(c, "attn_hyper_connection", streams, true) +
                                 gated_residual(c, "mlp_hyper_connection", streams, true);
                        }) +
                  rotary(k("RotaryEmbedding"), rotated) +
                  gated_residual(c, "hyper_connection_mixer", streams, false),
              {k("DecoderLayer")}),
          {.attention = {.rotation = Rotation::concatenated,
                         .tables_by_token = true,
                         .always_masked = true,
                         .chooses_keys = true}}),
      k("RMSNorm"), NormKind::rms_plus_1);
}

/// Source: vLLM 0.33 models/qwen4_exp/nvidia/mtp.py.
Part predictor(const Config& c, Size number) {
  if (number > 0) return {};
  const Size hidden = c.dim({"hidden_size"}), streams = c.dim({"hc_count"}, 4) * hidden;
  return in("mtp", k("MultiTokenPredictor"),
            rms_norm("pre_fc_norm_embedding", k("RMSNorm"), hidden) +
                rms_norm("pre_fc_norm_hidden", k("RMSNorm"), streams) +
                linear("fc_embedding", hidden, hidden) + linear("fc_hidden", hidden, hidden) +
                at("layers.0", picking_layer(c)) +
                gated_residual(c, "hyper_connection_mixer", streams, false));
}

/// The text model alone. Source: transformers 5.23,
/// models/qwen4_exp/{configuration,modeling}_qwen4_exp.py.
Part qwen4_exp_text(const Config& c) {
  return in("model", k("Model"), text_body(c)) +
         lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}), c.dim({"hidden_size"}),
                 c.flag({"tie_word_embeddings"}, false));
}

/// Source: transformers 5.23, models/qwen4_exp/{configuration,modeling}_qwen4_exp.py.
Part qwen4_exp(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen4_exp_text");
  const Submodel visual =
      qwen3_vision(section_of(c, "vision_config", "qwen4_exp_vision"), "Qwen4Exp");
  return with_language_head(
      in("model", "Qwen4ExpModel",
         visual.as("visual") + in("language_model", k("Model"), text_body(text))),
      text, head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::qwen4_exp
