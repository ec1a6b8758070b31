#include "model/kv_cache.hpp"

#include <algorithm>

namespace headroom::model {
namespace {

constexpr Size most = Size{1} << 62;

Size round_up(Size n, Size block) { return (n + block - 1) / block * block; }

/// a * b * c, at most 2^62.
Size saturating(Size a, Size b, Size c) {
  Size product = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_mul_overflow(product, c, &product))
    return most;
  return std::min(product, most);
}

Size between(const std::vector<Size>& before, Size first, Size last) {
  return before[static_cast<std::size_t>(last)] - before[static_cast<std::size_t>(first)];
}

Size tokens_of(const CacheClass& c, CachedTokens tokens) {
  return c.kind == CacheKind::cross_attention ? tokens.source : tokens.self;
}

Size elements_per_token(const Scenario& s, const CacheClass& c, Size first, Size last) {
  const bool expanded = c.kind == CacheKind::latent && !s.runtime->latent_cache;
  return between(expanded ? c.expanded_before : c.per_token_before, first, last);
}

double looked_at(const CacheClass& c, CachedTokens tokens) {
  const Size n = tokens_of(c, tokens);
  return static_cast<double>(c.window > 0 ? std::min(c.window, n) : n);
}

}  // namespace

CachedTokens reserved_tokens(const Scenario& s) {
  if (!s.kv_cache) return {};
  CachedTokens tokens{.self = s.cached_tokens(), .source = 0};
  if (s.weights->model->encoder_decoder) {
    tokens.source = std::min(s.prompt_tokens, tokens.self);
    tokens.self -= tokens.source;
  }
  return tokens;
}

Bytes kv_cache(const Scenario& s, CachedTokens tokens, Size first, Size last) {
  if (!s.kv_cache) return Bytes(0);
  Bytes total;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    Size held = round_up(tokens_of(c, tokens), s.runtime->kv_block);
    if (c.window > 0 && s.runtime->window_capped)
      held = std::min(held, round_up(c.window + s.runtime->window_slack, s.runtime->kv_block));
    const Size elements = saturating(s.batch, held, elements_per_token(s, c, first, last));
    total += elements >= most / 4 ? Bytes(most / 4) : s.kv_precision->stored(elements);
    total += Bytes(std::min(most / 4, saturating(s.batch, between(c.state_before, first, last),
                                                 s.runtime->state_bytes)));
    if (total > Bytes(most / 4)) return Bytes(most / 4);
  }
  return total;
}

double kv_read(const Scenario& s, CachedTokens tokens, Size first, Size last) {
  const double element_bytes = static_cast<double>(s.kv_precision->block_bytes) /
                               static_cast<double>(s.kv_precision->block_elements);
  double bytes = 0;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    bytes += looked_at(c, tokens) * element_bytes *
             static_cast<double>(elements_per_token(s, c, first, last));
    // Recurrent state is read and written at every token.
    bytes +=
        2.0 * static_cast<double>(between(c.state_before, first, last) * s.runtime->state_bytes);
  }
  return bytes * static_cast<double>(s.batch);
}

double decode_score_flops(const Scenario& s, CachedTokens tokens, Size first, Size last) {
  double flops = 0;
  for (const CacheClass& c : s.weights->model->profile.caches)
    flops +=
        2.0 * looked_at(c, tokens) * static_cast<double>(between(c.score_dims_before, first, last));
  return flops * static_cast<double>(s.batch);
}

double prefill_score_flops(const Scenario& s, Size prompt, Size first, Size last) {
  const double n = static_cast<double>(prompt);
  double flops = 0;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    const double w = static_cast<double>(c.window);
    const double pairs =
        c.window > 0 && c.window < prompt ? w * (w + 1) / 2 + (n - w) * w : n * (n + 1) / 2;
    flops += 2.0 * pairs * static_cast<double>(between(c.score_dims_before, first, last));
  }
  return flops * static_cast<double>(s.batch);
}

}  // namespace headroom::model
