#include "model/infer/memory/activation.hpp"

#include <algorithm>

#include "model/infer/memory/cache_elements.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/memory/towers.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {

Size score_bytes(const Scenario& s) {
  using enum FlashAttention;
  const FlashAttention has = s.runtime->kernels.flash;
  const bool asked = s.flash_attention != Override::engine_default && (has == on || has == off);
  // llama-context.cpp: quantised values need flash attention.
  const bool need = has == off && s.kv_cache && cache_precision(s).values->block_elements > 1;
  const bool flash = asked ? s.flash_attention == Override::on : need || has == always || has == on;
  return flash ? 0 : s.runtime->memory.score_bytes;
}

namespace {

/// As pass_tokens(), without a pass at start.
Size prompt_pass(const Scenario& s, Size chunk) {
  const Size batch = s.batch_part();
  const double prompt = static_cast<double>(batch) * static_cast<double>(s.prompt_tokens);
  const Size tokens = prompt > 1e15 ? Size{1'000'000'000'000'000} : batch * s.prompt_tokens;
  return std::max(batch, chunk > 0 ? std::min(chunk, tokens) : tokens);
}

}  // namespace

Size pass_tokens(const Scenario& s) {
  return has_start_pass(s) ? start_tokens(s) : prompt_pass(s, prefill_chunk(s));
}

namespace {

double element_bytes(const Scenario& s) {
  const Size stated = s.runtime->memory.activation_bytes;
  if (stated > 0) return static_cast<double>(stated);
  return s.weights->arithmetic == Arithmetic::fp32 ? 4.0 : 2.0;
}

/// True for caches that attention reads token by token.
bool is_attended(const CacheClass& c) {
  return c.kind == CacheKind::self_attention || c.kind == CacheKind::latent;
}

/// Elements per token and head where MLA runs on latents: the query with its rotated part, the
/// query and the output in the latent space. 0: not so. Source: llama.cpp src/models/deepseek2.cpp.
double latent_width(const Scenario& s) {
  if (!keeps_latents(s)) return 0;
  Size width = 0;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind != CacheKind::latent || c.layers == 0) continue;
    const Size entry = c.per_token_before.back(), twice = c.twice_before.back();
    width = std::max(width, (entry + 2 * (twice - entry)) / c.layers);
  }
  return static_cast<double>(width);
}

/// Elements per token that attention keeps besides its scores. A graph with scores has three copies
/// of the residual stream, two of queries, keys and values. Source: 75 compute buffers in
/// tests/oracle/data/llama_cpp_memory.csv.
double attention_width(const Scenario& s, Size shards) {
  const auto& shape = s.weights->model->shape;
  const auto hidden = static_cast<double>(shape.hidden_size);
  const auto heads = static_cast<double>(shape.query_heads) / static_cast<double>(shards);
  const auto& memory = s.runtime->memory;
  const double latents = memory.graph ? heads * latent_width(s) : 0;
  if (latents > 0) return 2 * hidden + latents;
  if (!memory.graph || score_bytes(s) == 0) return memory.residual_copies * hidden;
  const auto kv_heads = static_cast<double>(shape.kv_heads);
  return 3 * hidden + 2 * (heads + kv_heads) * static_cast<double>(shape.head_dim);
}

double feed_forward_bytes(const Scenario& s, Size shards, double element) {
  const MemoryPolicy& memory = s.runtime->memory;
  const Profile& profile = s.weights->model->profile;
  const auto hidden = static_cast<double>(s.weights->model->shape.hidden_size);
  const double widest = memory.graph ? profile.graph_width : memory.widest_share * profile.widest;
  return memory.residual_copies * hidden * element + widest / static_cast<double>(shards) * element;
}

/// True if attention copies keys and values to 16 bit on these cards.
bool copies_cache(const Scenario& s) {
  const auto& makers = s.runtime->memory.cache_copies;
  return !makers.empty() && s.kv_cache && !s.machine->devices.empty() && score_bytes(s) == 0 &&
         std::ranges::find(makers, s.machine->devices.front().vendor) != makers.end();
}

/// Elements of a token in a layer that it copies.
double copied_elements(const Scenario& s, const CacheClass& c) {
  const CachePrecision format = cache_precision(s);
  const Size keys_copied = format.keys->name == "fp16" ? 0 : 1;
  const Size values_copied = format.values->name == "fp16" ? 0 : 1;
  const bool latent = c.kind == CacheKind::latent && keeps_latents(s);
  const Size all = latent ? c.per_token_before.back() : elements_before(s, c).back();
  const Size values = latent ? 0 : values_before(s, c).back();  // latents: a part of the keys
  const Size of_layers = keys_copied * (all - values) + values_copied * values;
  return static_cast<double>(of_layers) / static_cast<double>(c.layers);
}

/// Sizes that passes of a scenario have in common, on each of `shards` cards.
struct PassSizes {
  PassSizes(const Scenario& s, Size shards, const TokenBytes& of, Size context);

  Size chunk;         ///< prefill_chunk()
  Size part;          ///< sequences that go through a layer together
  Size context;       ///< tokens of a sequence with all that it makes
  double masks = 0;   ///< bytes for one token: one mask of the whole context, one of the window
  double copied = 0;  ///< bytes of a layer's keys and values of all sequences in 16 bit, where
                      ///< attention copies them
};
PassSizes::PassSizes(const Scenario& s, Size shards, const TokenBytes& of, Size all)
    : chunk(of.chunk.of(s)), part(s.batch_part()), context(all) {
  if (of.attended.empty()) return;
  const CachedTokens reserved = reserved_tokens(s, context);
  Size longest = 0, windowed = 0;
  double largest = 0;
  for (const auto& [cache, window, masked, elements] : of.attended) {
    const Size tokens = tokens_of_sequence(s, *cache, window, reserved);
    Size& cells = cache->window > 0 ? windowed : longest;
    if (masked) cells = std::max(cells, tokens);
    largest = std::max(largest, elements * static_cast<double>(tokens));
  }
  masks = static_cast<double>((longest + windowed) * s.runtime->memory.mask_bytes *
                              (of.score > 0 ? 2 : 1));
  copied = 2 * largest * static_cast<double>(part) / static_cast<double>(shards);
}

/// The larger of what feed-forward and attention keep. `copied`: bytes of PassSizes, or none.
double layer_activations(const Scenario& s, Size pass, const TokenBytes& of, const PassSizes& sizes,
                         double copied) {
  const bool whole_context = sizes.chunk > 0 || pass == sizes.part;
  const auto keys = static_cast<double>(whole_context ? sizes.context : s.prompt_tokens);
  const double attention = of.attention + of.heads * keys * of.score;
  const auto tokens = static_cast<double>(pass);
  return std::max(tokens * of.feed_forward, tokens * attention + copied) + tokens * sizes.masks;
}

/// Logits of a pass on each of `shards` cards.
double logits_of(const Scenario& s, Size pass, Size shards, const StartRules& start) {
  const bool samples = start.has_pass;  // each card all logits of its replica
  const double rows = samples ? static_cast<double>(start_sequences(s, start))
                      : s.runtime->memory.logits == Positions::all
                          ? static_cast<double>(pass)
                          : static_cast<double>(s.batch_part());
  return rows * static_cast<double>(s.weights->model->profile.head_rows) /
         (samples ? 1 : static_cast<double>(shards));
}

/// On a card that makes logits.
double head_activations(const Scenario& s, Size pass, double logits, const TokenBytes& token) {
  const MemoryPolicy& memory = s.runtime->memory;
  const Size logit = token.start.has_pass ? memory.start_pass.sampling_bytes : memory.logits_bytes;
  const auto hidden = static_cast<double>(s.weights->model->shape.hidden_size);
  const double states = static_cast<double>(pass) * (memory.graph ? 2.0 : 1.0) * hidden;
  return states * token.element + logits * static_cast<double>(logit);
}

/// With the logits.
Bytes pass_activations(const Scenario& s, Size pass, Size shards, const TokenBytes& of,
                       const PassSizes& sizes, double copied) {
  const double logits = logits_of(s, pass, shards, of.start);
  return rounded_up(std::max(layer_activations(s, pass, of, sizes, copied),
                             head_activations(s, pass, logits, of)));
}

/// Weights that are packed as they are loaded stand in 16 bit until they are, matrix by matrix.
/// Caches that grow are not there yet. Reserved ones may be: litgpt generate/base.py has
/// set_kv_cache() before load_checkpoint().
Bytes packing(const Scenario& s) {
  if (s.weights->scheme->family != SchemeFamily::bitsandbytes) return Bytes(0);
  return Bytes(2 * std::max(s.weights->largest_matrix, s.weights->model->profile.head_elements));
}

}  // namespace

TokenBytes::TokenBytes(const Scenario& s, Size shards)
    : element(element_bytes(s)),
      feed_forward(feed_forward_bytes(s, shards, element)),
      attention(attention_width(s, shards) * element),
      heads(static_cast<double>(s.weights->model->shape.query_heads) / static_cast<double>(shards)),
      score(static_cast<double>(score_bytes(s))),
      start(s),
      chunk(s),
      packing(headroom::model::packing(s)),
      growth(s.kv_cache ? s.runtime->cache.growth : Growth::reserved),
      layers(std::max<Size>(1, std::ssize(s.weights->model->profile.layers))),
      has_towers(s.images.count > 0 || s.weights->model->images.kind != ImageTokens::unknown) {
  const bool masks = s.runtime->memory.mask_bytes > 0 && s.kv_cache, copies = copies_cache(s);
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (!is_attended(c)) continue;
    const bool masked = masks && c.entry_tokens <= 1;
    const double copied = copies && c.layers > 0 ? copied_elements(s, c) : 0;
    if (masked || copied > 0) attended.push_back({&c, stored_window(s, c), masked, copied});
  }
}

Bytes activations(const Scenario& s, Size pass, Size shards, Side side) {
  const TokenBytes token(s, shards);
  const PassSizes sizes(s, shards, token, s.cached_tokens());
  return pass_activations(s, pass, shards, token, sizes, side == Side::card ? sizes.copied : 0);
}

CachedTokens prompt_tokens(const Scenario& s, CachedTokens tokens) {
  if (!s.weights->model->encoder_decoder) tokens.self = std::min(tokens.self, s.prompt_tokens);
  tokens.just_passed = true;
  return tokens;
}

namespace {

/// A tied head that checkpoints of AWQ hold again stands twice until it is tied, before there are
/// caches, tables or kernels' buffers. Source: AutoAWQ 0.1.6 models/base.py, save_quantized (clones
/// of all that state_dict has); 0.25 GiB of Qwen2.5-0.5B's peak in QwenLM/Qwen2.5, 0.5 of Falcon
/// 7B's in AutoAWQ's table.
Bytes tying(const Scenario& s) {
  const Profile& profile = s.weights->model->profile;
  const bool again = s.weights->scheme->family == SchemeFamily::awq && profile.tied_head &&
                     s.runtime->weights.blocks == AllocatorBlocks::per_tensor;
  if (!again || s.machine->devices.empty()) return Bytes(0);
  return Bytes(2 * profile.head_elements) - rotary_tables(s, std::ssize(s.weights->layer)) -
         workspace(s, 0);
}

}  // namespace

WorkingMemory::WorkingMemory(const Scenario& s, Size shards, const TokenBytes& token, Size context)
    : packing_(token.packing), tying_(tying(s)), growth_(token.growth), count_(token.layers) {
  if (token.has_towers) {
    images_ = rounded_up(embeddings_of_images(s));
    others_ = tower_activations(s, shards);
  }
  const PassSizes sizes(s, shards, token, context);
  const Size pass =
      token.start.has_pass ? start_tokens(s, token.start, context) : prompt_pass(s, sizes.chunk);
  const double logits = logits_of(s, pass, shards, token.start);
  layers_ = rounded_up(layer_activations(s, pass, token, sizes, sizes.copied));
  host_layers_ =
      sizes.copied > 0 ? rounded_up(layer_activations(s, pass, token, sizes, 0)) : layers_;
  head_ = rounded_up(head_activations(s, pass, logits, token));
  returned_ = rounded_up(logits * static_cast<double>(s.runtime->memory.returned_bytes));
  if (grows()) decode_ = pass_activations(s, s.batch, shards, token, sizes, sizes.copied);
}

Bytes WorkingMemory::operator()(Bytes caches, Bytes prompt_caches, Head head) const {
  Bytes prefill = std::max(others_, layers_ + images_);
  if (head == Head::here) prefill = std::max(prefill, head_ + images_);
  if (head == Head::returned) prefill = std::max(prefill, returned_);
  const Bytes tying = head == Head::here ? tying_ - caches : Bytes(0);
  if (!grows()) return std::max(std::max(prefill, packing_), tying);
  const Bytes copies = growth_ == Growth::reallocate_all ? caches : Bytes(caches.count() / count_);
  return std::max({prefill + prompt_caches - caches, decode_ + copies, packing_ - caches, tying});
}

Bytes rotary_tables(const Scenario& s, Size layers) {
  if (s.runtime->memory.rotary == Rotary::computed) return Bytes(0);
  const auto& shape = s.weights->model->shape;
  const Size table = 2 * std::max<Size>(0, shape.positions) * shape.head_dim;
  return Bytes(s.runtime->memory.rotary == Rotary::shared ? table : 2 * table * layers);
}

Size batched_tokens(const Scenario& s) {
  const Size stated = stated_tokens(s);
  return stated > 0 ? stated : prefill_chunk(s);
}

Size tokens_in_flight(const Scenario& s) {
  const Size ahead = s.runtime->cache.passes_ahead;
  const Size passes = ahead > 0 ? s.stages() + ahead : 1;
  return times({passes, batched_tokens(s)});
}

Workspace::Workspace(const Scenario& s, std::size_t card) {
  if (s.runtime->memory.workspace_bytes.value <= 0) return;
  const bool hopper = s.machine->devices[card].compute_capability == ComputeCapability{9, 0};
  const bool unpacks =
      s.weights->scheme->family == SchemeFamily::gptq && width_of(*s.weights) == Width::four;
  buffers_ = hopper ? 32 * MiB : s.runtime->memory.workspace_bytes.value;
  unpacked_ = unpacks ? 2.0 * static_cast<double>(s.weights->largest_matrix) : 0.0;
}

Bytes workspace(const Scenario& s, std::size_t card) {
  return Workspace(s, card).with(graphs_in_share(s));
}

}  // namespace headroom::model
