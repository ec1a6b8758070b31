// Layers that keep a state of fixed size instead of keys and values. They are selective state
// spaces (Mamba, arXiv:2312.00752; Mamba-2, arXiv:2405.21060) and the gated delta rule
// (arXiv:2412.06464).
//
// A sequence keeps the last `kernel` inputs of the convolution and the recurrent state. Some
// engines omit the newest input. Source: transformers 5.23, cache_utils.py, LinearAttentionLayer.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {

/// Depthwise convolution over time. Each channel has its own kernel.
Part depthwise_conv(std::string_view name, Size channels, Size kernel, Bias bias);

/// Which numbers a recurrent state consists of.
enum class StateType { as_computed, fp32 };
/// By a key of the config: "float32"; without the key, or with another type, `fallback` counts.
StateType state_type(const Config& c, std::string_view key,
                     StateType fallback = StateType::as_computed);

/// A state of `state` elements, and the last `kernel` inputs of `convolved` channels.
Cache recurrent_state(Size convolved, Size kernel, Size state,
                      StateType type = StateType::as_computed);
/// A state with `earlier` inputs, none of them the newest token's (token shifts).
Cache shifted_state(Size convolved, Size earlier, Size state,
                    StateType type = StateType::as_computed);

/// Rank of the time step. "auto" means hidden_size / 16, rounded up.
Size time_step_rank(const Config& c, Config::Keys keys);
/// Channels of a mixer: int(expand * hidden_size).
Size expanded(const Config& c, Size hidden, std::string_view key = "expand");

/// Mamba with `inner` channels. Each has a state of `state` elements. `rank` is the rank of the
/// time step.
struct Mamba {
  Size inner, state, kernel, rank;
  Bias conv_bias = Bias::yes, bias = Bias::no;
};
Part mamba_mixer(Size hidden, const Mamba& m, std::string_view activation);

/// Mamba-2 with `heads` heads of `dim` channels. The heads of a group share B and C.
struct Mamba2 {
  Size inner, heads, dim, groups, state, kernel;
  Bias conv_bias = Bias::yes, bias = Bias::no;
  StateType type = StateType::as_computed;
  Size convolved() const { return inner + 2 * groups * state; }
  Size projected() const { return inner + convolved() + heads; }
};
Part mamba2_parameters(const Mamba2& m);
Cache mamba2_state(const Mamba2& m);
/// Sizes under the keys that Bamba introduced: mamba_n_heads, mamba_d_head ("auto": inner / heads),
/// mamba_n_groups, mamba_d_state, mamba_d_conv.
Mamba2 mamba2_of(const Config& c, Size inner);
Part mamba2_mixer(Size hidden, const Mamba2& m, std::string_view norm_class,
                  std::string_view activation);

/// The gated delta rule. Each value head keeps a matrix of key_dim x value_dim.
struct DeltaNet {
  Size key_heads, value_heads, key_dim, value_dim, kernel;
  StateType type = StateType::as_computed;
  Size key() const { return key_heads * key_dim; }
  Size value() const { return value_heads * value_dim; }
  Size convolved() const { return 2 * key() + value(); }
};
/// The state of Kimi delta attention, whose gates differ by channel. Source: vLLM 0.33
/// layers/mamba/mamba_utils.py kda_state_dtype; 0.13 likewise.
inline constexpr StateType channel_gated_state = StateType::fp32;
DeltaNet delta_net_of(const Config& c);
Cache delta_net_state(const DeltaNet& d);

}  // namespace headroom::model
