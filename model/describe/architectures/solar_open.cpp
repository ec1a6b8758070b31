// DeepSeek-like mixtures of experts with standard attention: Solar Open (arXiv:2601.07022) and
// dots.llm1 (arXiv:2506.05767).
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::solar_open {

/// Source: transformers 5.23, models/solar_open.
Part solar_open(const Config& c) {
  const Classes k{"SolarOpen"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c, 8, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part mlp = shared_mixture(
      c, k, k("MoE"),
      corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts));
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, heads.dim),
              [&] { return decoder_layer(k, hidden, attention(hidden, heads, bias), mlp); }),
      {.router = {.kind = RouterKind::sigmoid}});
}

/// Source: transformers 5.23, models/dots1. Layers from max_window_layers on have a sliding window.
Part dots1(const Config& c) {
  const Classes k{"Dots1"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.count({"sliding_window"}, 0), full = c.count({"max_window_layers"}, 62);
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  return with_quirks(
      decoder(c, k, rotated_dims(c, heads.dim),
              [&](Size i) {
                return decoder_layer(
                    k, hidden,
                    attention(hidden, heads, bias, bias,
                              window_of(c, i, window, i >= full ? window : 0)) +
                        head_norms(k("RMSNorm"), heads.dim),
                    is_sparse(c, i, 0) ? shared_mixture(c, k, k("MoE"), gate) : dense_mlp(c, k));
              }),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::solar_open
