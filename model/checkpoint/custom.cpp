#include "model/checkpoint/custom.hpp"

#include "model/describe/architecture.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model {
namespace {

constexpr Classes classes{"Custom"};

Part norm(const CustomDecoder& d, std::string_view name, Size dim) {
  return d.norm == CustomNorm::rms ? rms_norm(name, classes("RMSNorm"), dim)
                                   : layer_norm(name, dim, d.biases.norm);
}

/// Layers count from 0. Every n-th layer, starting with number n, sees the whole context.
Size window_of(const CustomDecoder& d, Size layer) {
  const bool full = d.full_attention_every > 0 && (layer + 1) % d.full_attention_every == 0;
  return full ? 0 : d.window;
}

Part attention_of(const CustomDecoder& d, Size layer) {
  Part p = attention(d.hidden_size, d.heads, d.biases.qkv, d.biases.attention_output,
                     window_of(d, layer));
  if (d.query_key_norm == QueryKeyNorm::none) return p;
  const bool per_head = d.query_key_norm == QueryKeyNorm::head;
  return std::move(p) +
         norm(d, "q_norm", per_head ? d.heads.dim : times({d.heads.query, d.heads.dim})) +
         norm(d, "k_norm", per_head ? d.heads.dim : times({d.heads.kv, d.heads.dim}));
}

Part dense(const CustomDecoder& d, Size inner) {
  const Bias bias = d.biases.feed_forward;
  if (d.feed_forward == FeedForward::gated)
    return gated_mlp(d.hidden_size, inner, "Activation", bias);
  return linear("up_proj", d.hidden_size, inner, bias) +
         linear("down_proj", inner, d.hidden_size, bias) + module("act_fn", "Activation");
}

Part experts(const CustomDecoder& d) {
  const Size n = d.experts.experts, inner = d.expert_size;
  const bool gated = d.feed_forward == FeedForward::gated;
  const std::string up = gated ? "gate_up_proj" : "up_proj";
  const Size up_rows = gated ? 2 * inner : inner;
  Part p = tensor(up, {n, up_rows, d.hidden_size}, Role::matmul);
  if (d.biases.feed_forward == Bias::yes)
    p = std::move(p) + tensor(up + "_bias", {n, up_rows}, Role::bias);
  p = std::move(p) + tensor("down_proj", {n, d.hidden_size, inner}, Role::matmul);
  if (d.biases.feed_forward == Bias::yes)
    p = std::move(p) + tensor("down_proj_bias", {n, d.hidden_size}, Role::bias);
  return in("experts", classes("Experts"),
            routed(std::move(p), d.experts) + module("act_fn", "Activation"));
}

Part feed_forward_of(const CustomDecoder& d, Size layer) {
  if (d.experts.experts == 0 || layer < d.dense_layers)
    return in("mlp", classes("MLP"), dense(d, d.intermediate_size));
  Part p = router("gate", classes("Router"), d.hidden_size, d.experts.experts) + experts(d);
  if (d.shared_experts > 0)
    p = std::move(p) +
        in("shared_experts", classes("MLP"), dense(d, times({d.shared_experts, d.expert_size})));
  return in("mlp", classes("SparseMLP"), std::move(p));
}

Part layer_norms_of(const CustomDecoder& d) {
  const auto n = [&](std::string_view name) { return norm(d, name, d.hidden_size); };
  switch (d.norm_placement) {
    case NormPlacement::pre:
      return n("input_layernorm") + n("post_attention_layernorm");
    case NormPlacement::post:
      return n("post_attention_layernorm") + n("post_feedforward_layernorm");
    case NormPlacement::both:
      return n("input_layernorm") + n("post_attention_layernorm") + n("pre_feedforward_layernorm") +
             n("post_feedforward_layernorm");
    case NormPlacement::parallel:
      return n("input_layernorm");
  }
  return {};
}

Part positions_of(const CustomDecoder& d) {
  switch (d.position_embedding) {
    case PositionEmbedding::learned:
      return embedding("embed_positions", d.positions, d.hidden_size);
    case PositionEmbedding::rotary:
      return rotary(classes("RotaryEmbedding"), d.heads.dim);
    case PositionEmbedding::none:
      break;
  }
  return {};
}

}  // namespace

Part describe(const CustomDecoder& d) {
  Part layers = stack("layers", classes("DecoderLayer"), d.layers, [&](Size i) {
    return in("self_attn", classes("Attention"), attention_of(d, i)) + feed_forward_of(d, i) +
           layer_norms_of(d);
  });
  Part part{.modules = {{"", classes("ForCausalLM")}}};
  part =
      std::move(part) +
      in("model", classes("Model"),
         embedding("embed_tokens", d.vocabulary, d.hidden_size) + positions_of(d) +
             std::move(layers) + norm(d, "norm", d.hidden_size)) +
      lm_head("model.embed_tokens.weight", d.vocabulary, d.hidden_size, d.tied_head, d.biases.head);
  check_size(part);
  return unsplittable(std::move(part), {classes("DecoderLayer")});
}

Model make_model(std::string name, const CustomDecoder& d, std::string source) {
  Model model;
  model.name = std::move(name);
  model.source = std::move(source);
  model.part = describe(d);
  model.architecture = model.part.modules.at(0).class_name;
  model.model_type = "custom";
  model.checkpoint_scheme = "fp32";
  model.shape = {
      .hidden_size = d.hidden_size,
      .layers = d.layers,
      .query_heads = d.heads.query,
      .kv_heads = d.heads.kv,
      .head_dim = d.heads.dim,
      .vocabulary = d.vocabulary,
      .positions = d.positions,
      .intermediate_size = d.intermediate_size > 0 ? d.intermediate_size : d.expert_size};
  model.profile = profile_of(model.part, d.hidden_size);
  return model;
}

}  // namespace headroom::model
