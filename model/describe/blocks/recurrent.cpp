#include "model/describe/blocks/recurrent.hpp"

#include "model/describe/whole_width.hpp"

namespace headroom::model {

Part depthwise_conv(std::string_view name, Size channels, Size kernel, Bias bias) {
  Part p = tensor("weight", {channels, 1, kernel}, Role::conv);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {channels}, Role::bias);
  return in(name, "Conv1d", std::move(p));
}

StateType state_type(const Config& c, std::string_view key, StateType fallback) {
  if (!c.has(key)) return fallback;
  const std::string type = c.text({key});
  if (type == "float32") return StateType::fp32;
  if (type != "float16" && type != "bfloat16" && type != "auto")
    c.fail(key, "found '" + type + "', expected float32, float16, bfloat16 or auto");
  return StateType::as_computed;
}

Cache recurrent_state(Size convolved, Size kernel, Size state, StateType type) {
  return {.kind = CacheKind::recurrent,
          .per_sequence = times({convolved, kernel}) + state,
          .per_step = convolved,
          .scanned = state,
          .in_fp32 = type == StateType::fp32 ? state : 0};
}

Cache shifted_state(Size convolved, Size earlier, Size state, StateType type) {
  Cache cache = recurrent_state(convolved, earlier, state, type);
  cache.per_step = 0;
  return cache;
}

Size time_step_rank(const Config& c, Config::Keys keys) {
  for (const auto key : keys)
    if (c.is_whole(key)) return c.dim(keys);
  if (const auto text = c.text(keys, "auto"); text != "auto")
    c.fail(*keys.begin(), "found \"" + text + "\", expected \"auto\" or a whole number");
  return (c.dim({"hidden_size"}) + 15) / 16;
}

Size expanded(const Config& c, Size hidden, std::string_view key) {
  const double factor = c.number({key}, 2);
  return factor == 0 ? 0 : whole_width(c, key, factor * static_cast<double>(hidden));
}

Part mamba_mixer(Size hidden, const Mamba& m, std::string_view activation) {
  Part p = tensor("A_log", {m.inner, m.state}, Role::other) + tensor("D", {m.inner}, Role::other) +
           depthwise_conv("conv1d", m.inner, m.kernel, m.conv_bias) + module("act", activation) +
           linear("in_proj", hidden, 2 * m.inner, m.bias) +
           linear("x_proj", m.inner, m.rank + 2 * m.state) +
           linear("dt_proj", m.rank, m.inner, Bias::yes) +
           linear("out_proj", m.inner, hidden, m.bias);
  p.caches = {recurrent_state(m.inner, m.kernel, times({m.inner, m.state}))};
  return p;
}

Part mamba2_parameters(const Mamba2& m) {
  return tensor("dt_bias", {m.heads}, Role::other) + tensor("A_log", {m.heads}, Role::other) +
         tensor("D", {m.heads}, Role::other);
}

Cache mamba2_state(const Mamba2& m) {
  return recurrent_state(m.convolved(), m.kernel, times({m.heads, m.dim, m.state}), m.type);
}

Mamba2 mamba2_of(const Config& c, Size inner) {
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

Part mamba2_mixer(Size hidden, const Mamba2& m, std::string_view norm_class,
                  std::string_view activation) {
  Part p = mamba2_parameters(m) + module("act", activation) +
           depthwise_conv("conv1d", m.convolved(), m.kernel, m.conv_bias) +
           linear("in_proj", hidden, m.projected(), m.bias) +
           rms_norm("norm", norm_class, m.inner) + linear("out_proj", m.inner, hidden, m.bias);
  p.caches = {mamba2_state(m)};
  return p;
}

DeltaNet delta_net_of(const Config& c) {
  return {.key_heads = c.dim({"linear_num_key_heads"}),
          .value_heads = c.dim({"linear_num_value_heads"}),
          .key_dim = c.dim({"linear_key_head_dim"}),
          .value_dim = c.dim({"linear_value_head_dim"}),
          .kernel = c.dim({"linear_conv_kernel_dim"}),
          .type = state_type(c, "mamba_ssm_dtype")};
}

Cache delta_net_state(const DeltaNet& d) {
  return recurrent_state(d.convolved(), d.kernel, times({d.value_heads, d.key_dim, d.value_dim}),
                         d.type);
}

}  // namespace headroom::model
