// Sizes that follow from several keys of a config.json.
#include <fmt/format.h>

#include <stdexcept>

#include "model/describe/config.hpp"

namespace headroom::model {

Size times(std::span<const Size> factors) {
  Size product = 1;
  for (const Size factor : factors)
    if (__builtin_mul_overflow(product, factor, &product))
      throw std::overflow_error("a product of sizes exceeds 2^63 - 1");
  return product;
}

Heads heads_of(const Config& c) {
  const Size query = c.dim({"num_attention_heads"});
  const Size kv = c.dim({"num_key_value_heads"}, query);
  if (c.has("head_dim")) return {query, kv, c.dim({"head_dim"})};
  const Size hidden = c.dim({"hidden_size"});
  if (hidden % query != 0)
    c.fail("num_attention_heads",
           fmt::format("found {}, expected a divisor of hidden_size ({}), or a head_dim", query,
                       hidden));
  return {query, kv, hidden / query};
}

}  // namespace headroom::model
