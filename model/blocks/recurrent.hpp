// Layers that remember a state of fixed size instead of keys and values: selective state spaces
// (Mamba, arXiv:2312.00752; Mamba-2, arXiv:2405.21060) and the gated delta rule (arXiv:2412.06464).
//
// State sizes are those of transformers 5.23, cache_utils.py, LinearAttentionLayer: the last
// `kernel` inputs of the convolution and the recurrent state, per sequence.
#pragma once

#include <string>
#include <string_view>

#include "model/blocks/decoder.hpp"

namespace headroom::model {

/// Depthwise convolution over time: each of `channels` has a kernel of its own.
inline Part depthwise_conv(std::string_view name, Size channels, Size kernel, Bias bias) {
  Part p = tensor("weight", {channels, 1, kernel}, Role::conv);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {channels}, Role::bias);
  return in(name, "Conv1d", std::move(p));
}

/// `convolved` channels with their last `kernel` inputs, and `state` elements.
inline Cache recurrent_state(Size convolved, Size kernel, Size state) {
  return {.kind = CacheKind::recurrent, .per_sequence = times({convolved, kernel}) + state};
}

/// Rank of the time step: "auto" is hidden_size / 16, rounded up.
inline Size time_step_rank(const Config& c, Config::Keys keys) {
  for (const auto key : keys)
    if (c.is_whole(key)) return c.dim(keys);
  if (const auto text = c.text(keys, "auto"); text != "auto")
    c.fail(*keys.begin(), "found \"" + text + "\", expected \"auto\" or a whole number");
  return (c.dim({"hidden_size"}) + 15) / 16;
}
/// Channels of a mixer: int(expand * hidden_size).
inline Size expanded(const Config& c, Size hidden, std::string_view key = "expand") {
  return static_cast<Size>(c.number({key}, 2) * static_cast<double>(hidden));
}

/// Mamba: `inner` channels, each with a state of `state` elements; `rank` is that of the time step.
struct Mamba {
  Size inner, state, kernel, rank;
  Bias conv_bias = Bias::yes, bias = Bias::no;
};
inline Part mamba_mixer(Size hidden, const Mamba& m, std::string_view activation) {
  Part p = tensor("A_log", {m.inner, m.state}, Role::other) + tensor("D", {m.inner}, Role::other) +
           depthwise_conv("conv1d", m.inner, m.kernel, m.conv_bias) + module("act", activation) +
           linear("in_proj", hidden, 2 * m.inner, m.bias) +
           linear("x_proj", m.inner, m.rank + 2 * m.state) +
           linear("dt_proj", m.rank, m.inner, Bias::yes) +
           linear("out_proj", m.inner, hidden, m.bias);
  p.caches = {recurrent_state(m.inner, m.kernel, times({m.inner, m.state}))};
  return p;
}

/// Mamba-2: `heads` of `dim` channels; B and C are shared by the heads of a group.
struct Mamba2 {
  Size inner, heads, dim, groups, state, kernel;
  Bias conv_bias = Bias::yes, bias = Bias::no;
  Size convolved() const { return inner + 2 * groups * state; }
  Size projected() const { return inner + convolved() + heads; }
};
inline Part mamba2_parameters(const Mamba2& m) {
  return tensor("dt_bias", {m.heads}, Role::other) + tensor("A_log", {m.heads}, Role::other) +
         tensor("D", {m.heads}, Role::other);
}
inline Cache mamba2_state(const Mamba2& m) {
  return recurrent_state(m.convolved(), m.kernel, times({m.heads, m.dim, m.state}));
}
/// Sizes under the keys that Bamba introduced: mamba_n_heads, mamba_d_head ("auto": inner / heads),
/// mamba_n_groups, mamba_d_state, mamba_d_conv.
inline Mamba2 mamba2_of(const Config& c, Size inner) {
  const Size heads = c.dim({"mamba_n_heads"}, 128);
  return {.inner = inner,
          .heads = heads,
          .dim = c.is_whole("mamba_d_head") ? c.dim({"mamba_d_head"}) : inner / heads,
          .groups = c.dim({"mamba_n_groups"}, 1),
          .state = c.dim({"mamba_d_state"}, 256),
          .kernel = c.dim({"mamba_d_conv"}, 4),
          .conv_bias = c.bias({"mamba_conv_bias"}, true),
          .bias = c.bias({"mamba_proj_bias"}, false)};
}
inline Part mamba2_mixer(Size hidden, const Mamba2& m, std::string_view norm_class,
                         std::string_view activation) {
  Part p = mamba2_parameters(m) + module("act", activation) +
           depthwise_conv("conv1d", m.convolved(), m.kernel, m.conv_bias) +
           linear("in_proj", hidden, m.projected(), m.bias) +
           rms_norm("norm", norm_class, m.inner) + linear("out_proj", m.inner, hidden, m.bias);
  p.caches = {mamba2_state(m)};
  return p;
}

/// Gated delta rule: each value head keeps a matrix of key_dim x value_dim.
struct DeltaNet {
  Size key_heads, value_heads, key_dim, value_dim, kernel;
  Size key() const { return key_heads * key_dim; }
  Size value() const { return value_heads * value_dim; }
  Size convolved() const { return 2 * key() + value(); }
};
inline DeltaNet delta_net_of(const Config& c) {
  return {.key_heads = c.dim({"linear_num_key_heads"}),
          .value_heads = c.dim({"linear_num_value_heads"}),
          .key_dim = c.dim({"linear_key_head_dim"}),
          .value_dim = c.dim({"linear_value_head_dim"}),
          .kernel = c.dim({"linear_conv_kernel_dim"})};
}
inline Cache delta_net_state(const DeltaNet& d) {
  return recurrent_state(d.convolved(), d.kernel, times({d.value_heads, d.key_dim, d.value_dim}));
}

}  // namespace headroom::model
