#include "model/infer/memory/kv_cache.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/describe/layer_range.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/cache_elements.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/packed_pool.hpp"
#include "model/infer/memory/pool_groups.hpp"
#include "model/infer/scenario/draft.hpp"

namespace headroom::model {
namespace {

Size tokens_of(const CacheClass& c, const CachedTokens& tokens) {
  return c.kind == CacheKind::cross_attention ? tokens.source : tokens.self;
}

/// Tokens that all sequences hold in layers of this kind. `window`: as stored_window().
Size tokens_held(const Scenario& s, const CacheClass& c, Size window, const CachedTokens& tokens,
                 Size block) {
  const Size all = tokens_of(c, tokens);
  const Size held = round_up(all, block);
  const CachePolicy& cache = s.runtime->cache;
  const double share = s.weights->model->profile.compressed ? cache.compressed_window_share
                       : cache.windows == Windows::share    ? cache.window_share
                                                            : 0;
  // llama.cpp llama-kv-cache-dsv4.cpp: compressed entries are padded as tokens are.
  if (c.entry_tokens > 1 && s.weights->model->profile.compressed &&
      s.runtime->cache.windows == Windows::capped && block > 1)
    return s.batch * round_up(all, block * c.entry_tokens);
  if (window > 0 && share > 0) {
    const double part = std::ceil(share * static_cast<double>(held));
    return s.batch * round_up(std::max(std::min(held, window), static_cast<Size>(part)), block);
  }
  const bool viewed = tokens.just_passed && s.runtime->cache.window_views;
  if (window == 0 || viewed || s.runtime->cache.windows == Windows::whole) return s.batch * held;
  if (s.runtime->cache.windows == Windows::capped)
    return s.batch * std::min(held, round_up(window + s.runtime->cache.window_slack, block));
  if (all <= block) return s.batch * held;
  const Size inside = std::min(all, window - 1);
  const Size passing = std::min(tokens_in_flight(s), s.batch * (all - inside));
  return (s.batch - 1) * (round_up(inside, block) + block) + round_up(inside + passing, block) +
         block;
}

/// Layers of a range with a cache of this class, and the bytes of a page of one on a card. `block`:
/// tokens of pages that are not aligned. `ways`: parts that cards divide an entry into.
PagedLayers paged(const Scenario& s, const CacheClass& c, Range range, const StatePages& states,
                  Size block, Size ways) {
  const bool sums = c.kind == CacheKind::waiting, recurs = c.kind == CacheKind::recurrent;
  const auto& before = sums || recurs ? c.state_before : c.per_token_before;
  const Size layers = between(before, range) / (before.back() / c.layers);
  if (recurs)
    return {.layers = layers,
            .page_bytes = states.page_bytes,
            .block_tokens = states.block_tokens,
            .window = 0,
            .states = states.pages + state_copies(s) - 1};
  const bool own = in_own_format(s, c), ring = sums && c.window == 0;
  const bool aligned = c.page_tokens > 0;
  const Size tokens = aligned ? c.page_tokens : block;
  constexpr Size plain_step = 512;
  const OwnEntry entry =
      own ? own_entry(s, c)
          : OwnEntry{cache_precision(s).keys->stored(c.entry_elements / ways).count(), plain_step};
  Size bytes = tokens / c.entry_tokens * entry.bytes;
  if (aligned && !ring) bytes = round_up(bytes, entry.page_step);
  if (!aligned && c.kind != CacheKind::indexer && states.block_tokens > 0)
    bytes = states.page_bytes;
  return {.layers = layers,
          .page_bytes = bytes,
          .block_tokens = tokens,
          .window = c.window,
          .states = ring ? 1 : 0};
}

/// True if caches come from one pool of blocks that hold pages of several sizes.
bool is_packed(const Scenario& s, const StatePages& states) {
  const Profile& p = s.weights->model->profile;
  if (s.runtime->cache.windows != Windows::hybrid_kv_pool) return false;
  const bool recurs = std::ranges::any_of(
      p.caches, [](const CacheClass& c) { return c.kind == CacheKind::recurrent && c.layers > 0; });
  return p.compressed || (p.pooled && (states.block_tokens > 0 || !recurs));
}

}  // namespace

bool keeps_latents(const Engine& engine, const Model& model) {
  return engine.cache.latent && !is_listed(engine.cache.expanded_classes, model);
}

bool caches_latents(const Scenario& s) {
  return keeps_latents(s) &&
         std::ranges::any_of(s.weights->model->profile.caches, [](const CacheClass& c) {
           return c.kind == CacheKind::latent && c.layers > 0;
         });
}

Size state_copies(const Scenario& s) {
  if (s.draft == nullptr) return 1;
  const bool recomputes =
      s.draft->proposer == Proposer::model || s.draft->proposer == Proposer::lookup;
  return !recomputes || s.runtime->parallel.split == Split::tensors ? 1 + s.draft->tokens : 1;
}

Size stored_window(const Scenario& s, const CacheClass& c) {
  const CachePolicy& cache = s.runtime->cache;
  const Model& model = *s.weights->model;
  const bool shares = is_listed(cache.share_classes, model) || model.profile.compressed;
  return cache.windows == Windows::share && !shares ? 0 : applied_window(s, c);
}

CachedTokens reserved_tokens(const Scenario& s) { return reserved_tokens(s, s.cached_tokens()); }
CachedTokens reserved_tokens(const Scenario& s, Size context) {
  if (!s.kv_cache) return {};
  const Size source = s.weights->model->encoder_decoder ? std::min(s.prompt_tokens, context) : 0;
  return {.self = context - source, .source = source};
}

Size tokens_of_sequence(const Scenario& s, const CacheClass& c, Size window,
                        const CachedTokens& tokens) {
  return tokens_held(s, c, window, tokens, s.runtime->cache.block_tokens) / s.batch;
}

CacheRules::Blocks::Blocks(const Precision& precision)
    : round(precision.block_elements - 1),
      block_bytes(precision.block_bytes),
      shift(std::countr_zero(static_cast<std::uint64_t>(precision.block_elements))) {}

CacheRules::CacheRules(const Scenario& s, Size shards)
    : copies_(state_copies(s)),
      keys_(*cache_precision(s).keys),
      values_(*cache_precision(s).values),
      element_bytes_(std::max(cache_precision(s).keys->element_bytes(),
                              cache_precision(s).values->element_bytes())) {
  const auto& classes = s.weights->model->profile.caches;
  const PoolGroups pool(s, shards);
  const StatePages& states = states_ = pool.states();
  block_ = std::max(states.block_tokens, s.runtime->cache.block_tokens);
  packed_ = is_packed(s, states);
  if (packed_)
    for (const CacheClass& c : classes) block_ = std::max(block_, c.page_tokens);
  const bool differ = cache_precision(s).differ();
  classes_.reserve(classes.size());
  for (const CacheClass& c : classes) {
    const auto& elements = elements_before(s, c);
    const bool own = in_own_format(s, c);
    const PoolGroups::Layers layers = pool.layers(c);
    const bool padded = layers.real != layers.padded;
    const bool paged_state = c.kind == CacheKind::recurrent && states.block_tokens > 0;
    const auto& state = paged_state ? c.state_before : elements_of_state(s, c);
    classes_.push_back({.of = &c,
                        .elements_before = elements.data(),
                        .values_before = differ ? values_before(s, c).data() : nullptr,
                        .state_before = state.data(),
                        .fp32_before = fp32_before(s, c).data(),
                        .elements = elements.back(),
                        .states = state.back(),
                        .window = stored_window(s, c),
                        .layers = padded ? layers.real : 1,
                        .padded_layers = padded ? layers.padded : 1,
                        .state_elements = paged_state ? state.back() / c.layers : 1,
                        .state_bytes = paged_state
                                           ? times({states.pages + copies_ - 1, states.page_bytes})
                                           : times({s.runtime->cache.state_bytes, copies_}),
                        .wider_bytes = paged_state ? 0 : times({fp32_excess(s), copies_}),
                        .ways = paged_state ? 1 : ways_of(s, c, shards),
                        .entry_elements = own ? c.entry_elements : 0,
                        .entry_bytes = own ? own_entry(s, c).bytes : 0,
                        .is_plain = false});
    CacheRules::Class& made = classes_.back();
    made.is_plain = !own && !differ && !padded && made.states == 0 && made.ways == 1;
  }
}

CacheBytes::CacheBytes(const CacheRules& rules, const Scenario& s, const CachedTokens& tokens)
    : rules_(&rules) {
  if (!s.kv_cache) return;
  double bytes = 0;
  for (const CacheRules::Class& c : rules.classes_) {
    const Size held = tokens_held(s, *c.of, c.window, tokens, rules.block_);
    bytes += real_count(held) * real_count(c.elements) * rules.element_bytes_;
    Class& made = classes_.emplace_back();
    made.rule = &c;
    made.held = held;
    if (c.states == 0) continue;
    made.state_bytes = times({s.batch, c.state_bytes});
    made.wider_bytes = times({s.batch, c.wider_bytes});
    bytes += real_count(s.batch) * real_count(rules.copies_) *
             real_count(c.states * s.runtime->cache.state_bytes);
  }
  huge_ = bytes > 1e18;
  tokens_ = tokens.self;
  if (rules.packed_) pooled_ = &s;
}

Size CacheBytes::in_parts(const Class& c, Size each, std::size_t f, std::size_t l) const {
  const CacheRules::Class& rule = *c.rule;
  const Size elements = c.held * rule.padded(each);
  Size whole = 0;
  if (rule.entry_elements > 0) {
    whole = (elements + rule.entry_elements - 1) / rule.entry_elements * rule.entry_bytes;
  } else if (rule.values_before == nullptr) {
    whole = rules_->keys_.bytes(elements);
  } else {
    const Size values = c.held * rule.padded(rule.values_before[l] - rule.values_before[f]);
    whole = rules_->keys_.bytes(elements - values) + rules_->values_.bytes(values);
  }
  if (rule.states > 0) {
    const Size states = rule.state_before[l] - rule.state_before[f];
    whole += c.state_bytes * rule.padded(states / rule.state_elements) +
             c.wider_bytes * (rule.fp32_before[l] - rule.fp32_before[f]);
  }
  return rule.ways == 1 ? whole : (whole + rule.ways - 1) / rule.ways;
}

Bytes CacheBytes::of_pool(Size first, Size last) const {
  boost::container::small_vector<PagedLayers, 8> all;
  for (const CacheRules::Class& rule : rules_->classes_) {
    const CacheClass& c = *rule.of;
    all.push_back(paged(*pooled_, c, {first, last}, rules_->states_, rules_->block_, rule.ways));
    if (c.kind != CacheKind::indexer || c.page_tokens > 0) continue;
    // A ring of the tokens of the open pool. No ring is larger than a block has room for.
    all.push_back(all.back());
    all.back().page_bytes = rule.entry_bytes;
    all.back().states = 1;
  }
  return packed_pool(all, tokens_, pooled_->batch, tokens_in_flight(*pooled_)).bytes();
}

}  // namespace headroom::model
