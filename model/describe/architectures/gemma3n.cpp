// Gemma 3n's text model. Each layer mixes four copies of the residual stream before and after it
// (AltUp, arXiv:2301.13310). It adds low-rank residuals (LAuReL, arXiv:2411.07501). Every layer has
// separate embeddings. The last layers share keys and values.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::gemma3n {

const Classes k{"Gemma3n"};

Part scaled_embedding(std::string_view name, Size rows, Size dim) {
  return in(name, k("TextScaledWordEmbedding"),
            tensor("weight", {rows, dim}, Role::embedding) + buffer("embed_scale", {}));
}

Part norm(std::string_view name, Size dim) { return rms_norm(name, k("RMSNorm"), dim); }

/// Reads one of the copies for the layer, and updates all copies.
Part altup(Size hidden, Size copies) {
  return in("altup", k("TextAltUp"),
            tensor("correct_output_scale", {hidden}, Role::other) +
                buffer("router_input_scale", {}) + linear("correction_coefs", copies, copies) +
                linear("prediction_coefs", copies, copies * copies) +
                linear("modality_router", hidden, copies) + norm("router_norm", hidden));
}

/// The width of layer `i`'s feed-forward. The config holds one number for all layers, or a list.
Size inner_of(const Config& c, Size i) {
  if (c.is_whole("intermediate_size")) return c.dim({"intermediate_size"});
  const auto each = c.dims({"intermediate_size"});
  if (static_cast<std::size_t>(i) >= each.size())
    c.fail("intermediate_size", "expected one number, or one for each layer");
  return each[static_cast<std::size_t>(i)];
}

/// Source: transformers 5.23, models/gemma3n/{configuration,modeling}_gemma3n.py.
Part gemma3n_trunk(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Heads heads = heads_of(c, Defaults{.kv_heads = 2, .head_dim = 256});
  const Size window = c.dim({"sliding_window"}, 512);
  const Size each = c.dim({"hidden_size_per_layer_input"}, 256);
  const Size copies = c.dim({"altup_num_inputs"}, 4), rank = c.dim({"laurel_rank"}, 64);
  const Size own = layers - c.count({"num_kv_shared_layers"}, 15);
  const Bias b = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh");
  const auto types = every_nth_full(c, layers, 5);
  const auto attention_of = [&](Size i) {
    Part p = linear("q_proj", hidden, heads.query * heads.dim, b) + norm("q_norm", heads.dim);
    if (i < own) {
      p = std::move(p) + linear("k_proj", hidden, heads.kv * heads.dim, b) +
          linear("v_proj", hidden, heads.kv * heads.dim, b) + norm("k_norm", heads.dim) +
          module("v_norm", k("RMSNorm"));
      p.caches = {kv_cache(heads, window_of(types[static_cast<std::size_t>(i)], window))};
    }
    return std::move(p) + linear("o_proj", heads.query * heads.dim, hidden, b);
  };
  const auto copy_projections = [&](std::string_view name) {
    Part list;
    for (Size i = 0; i + 1 < copies; ++i)
      list = std::move(list) + linear(std::to_string(i), hidden, hidden);
    return in(name, "ModuleList", std::move(list));
  };
  return unsplittable(
      buffer("per_layer_projection_scale", {}) + buffer("per_layer_input_scale", {}) +
          scaled_embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
          stack("layers", k("TextDecoderLayer"), layers,
                [&](Size i) {
                  return in("self_attn", k("TextAttention"), attention_of(i)) +
                         in("mlp", k("TextMLP"), gated_mlp(hidden, inner_of(c, i), act)) +
                         norm("input_layernorm", hidden) +
                         norm("post_attention_layernorm", hidden) +
                         norm("pre_feedforward_layernorm", hidden) +
                         norm("post_feedforward_layernorm", hidden) + module("act_fn", act) +
                         altup(hidden, copies) +
                         in("laurel", k("TextLaurelBlock"),
                            linear("linear_left", hidden, rank) +
                                linear("linear_right", rank, hidden) +
                                norm("post_laurel_norm", hidden)) +
                         linear("per_layer_input_gate", hidden, each) +
                         linear("per_layer_projection", each, hidden) +
                         norm("post_per_layer_input_norm", hidden);
                }) +
          norm("norm", hidden) + rotary_by_type(c, k("RotaryEmbedding"), types, heads.dim) +
          looked_up(scaled_embedding("embed_tokens_per_layer",
                                     c.dim({"vocab_size_per_layer_input"}, 262144), layers * each),
                    1) +
          linear("per_layer_model_projection", hidden, layers * each) +
          norm("per_layer_projection_norm", each) + copy_projections("altup_projections") +
          copy_projections("altup_unembed_projections"),
      {k("TextDecoderLayer")});
}
Part gemma3n_text(const Config& c) {
  return causal_lm(c, k("TextModel"), gemma3n_trunk(c), Tied::yes);
}

}  // namespace headroom::model::families::gemma3n
