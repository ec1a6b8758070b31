// Nemotron-H and Nemotron 3 (arXiv:2504.03624). Each layer is one kind: Mamba-2, attention,
// feed-forward or mixture. The config gives their order. In Nemotron-H Puzzle it also gives each
// layer's own sizes.
#include "model/describe/architectures/nemotron_h.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::nemotron_h {

/// The overrides of each layer in the config of Nemotron-H Puzzle (block_configs); empty otherwise.
std::vector<Config> blocks_of(const Config& c) {
  std::vector<Config> blocks;
  if (!c.has("block_configs")) return blocks;
  const auto& list = c.object().at("block_configs");
  const auto is_object = [](const auto& block) { return block.is_object(); };
  if (!list.is_array() || !std::ranges::all_of(list.get_array(), is_object))
    c.fail("block_configs", "expected a list of objects, one for each layer");
  for (const auto& block : list.get_array()) blocks.emplace_back(block.get_object(), c.origin());
  return blocks;
}

/// One letter for each kind of layer: M for Mamba-2, * for attention, - for feed-forward, E for
/// mixture.
std::string letters_of(const Config& c, std::string_view key,
                       const std::vector<std::string>& types) {
  std::string pattern;
  for (const auto& type : types) {
    if (type == "linear_attention" || type == "mamba")
      pattern += 'M';
    else if (type == "full_attention" || type == "attention")
      pattern += '*';
    else if (type == "mlp")
      pattern += '-';
    else if (type == "moe")
      pattern += 'E';
    else
      c.fail(key, "found '" + type + "', expected mamba, attention, mlp or moe");
  }
  return pattern;
}

/// The kinds of all layers.
std::string pattern_of(const Config& c, const std::vector<Config>& blocks) {
  auto types = c.texts({"layers_block_type", "layer_types"});
  if (!blocks.empty()) types.clear();
  for (const Config& block : blocks) types.push_back(block.text({"block_type"}));
  return types.empty() ? c.text({"hybrid_override_pattern"})
                       : letters_of(c, "layers_block_type", types);
}

Part plain_mlp(const Config& c, Size inner, std::string_view activation) {
  const Size hidden = c.dim({"hidden_size"});
  const Bias bias = c.bias({"mlp_bias"}, false);
  return linear("up_proj", hidden, inner, bias) + linear("down_proj", inner, hidden, bias) +
         module("act_fn", activation);
}

Part mixture(const Config& c, Classes k, std::string_view activation) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Size latent = c.dim({"moe_latent_size"}, hidden);
  const Bias bias = c.bias({"mlp_bias"}, false);
  const Routing r = routing_of(c, {"n_routed_experts", "num_local_experts"});
  return in("experts", k("Experts"),
            routed(tensor("up_proj", {r.experts, inner, latent}, Role::matmul) +
                       tensor("down_proj", {r.experts, latent, inner}, Role::matmul),
                   r) +
                module("act_fn", activation)) +
         corrected_router("gate", k("TopkRouter"), hidden, r.experts) +
         in("shared_experts", k("MLP"),
            plain_mlp(c, c.dim({"moe_shared_expert_intermediate_size"}), activation)) +
         (c.has("moe_latent_size")
              ? linear("fc1_latent_proj", hidden, latent, bias) +
                    linear("fc2_latent_proj", latent, hidden, bias)
              : module("fc1_latent_proj", "Identity") + module("fc2_latent_proj", "Identity"));
}

Heads attention_heads(const Config& c) {
  Heads heads = heads_of(c);
  heads.dim = c.dim({"head_dim"}, 128);
  return heads;
}

/// Children of `NemotronHModel`. Sources: transformers 5.23, models/nemotron_h; of block_configs
/// vLLM 0.33 nemotron_h.py and SGLang 0.5.23 configs/nemotron_h.py.
Part nemotron_h_model(const Config& c) {
  const Classes k{"NemotronH"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string act = activation_class(c, {"mlp_hidden_act"}, "relu2");
  const Heads heads = attention_heads(c);
  const Size mamba_heads = c.dim({"mamba_num_heads"}, 128), dim = c.dim({"mamba_head_dim"}, 64);
  const Mamba2 m{.inner = mamba_heads * dim,
                 .heads = mamba_heads,
                 .dim = dim,
                 .groups = c.dim({"mamba_n_groups", "n_groups"}, 8),
                 .state = c.dim({"ssm_state_size"}, 128),
                 .kernel = c.dim({"mamba_d_conv", "conv_kernel"}, 4),
                 .conv_bias = c.bias({"mamba_conv_bias", "use_conv_bias"}, true),
                 .bias = c.bias({"use_bias"}, false),
                 // vLLM 0.33 models/config.py NemotronHForCausalLMConfig
                 .type = state_type(c, "mamba_ssm_cache_dtype", StateType::fp32)};
  const auto blocks = blocks_of(c);
  const std::string pattern = pattern_of(c, blocks);
  const auto mixer = [&](Size i) {
    const auto n = static_cast<std::size_t>(i);
    const Config own = blocks.empty() ? c : blocks[n].with_defaults(c.object());
    switch (const char kind = pattern[n]) {
      case 'M':
        return in("mixer", k("Mamba2Mixer"),
                  mamba2_mixer(hidden, m, k("RMSNormGated"),
                               activation_class(c, {"mamba_hidden_act"}, "silu")));
      case '*':
        return in("mixer", k("Attention"),
                  attention(hidden, heads, Bias::no, Bias::no,
                            blocks.empty() ? 0 : blocks[n].dim_or_none({"sliding_window"}, 0)));
      case '-':
        return in("mixer", k("MLP"), plain_mlp(c, own.dim({"intermediate_size"}), act));
      case 'E':
        return in("mixer", k("MoE"), mixture(own, k, act));
      default:
        c.fail("hybrid_override_pattern",
               std::string("found '") + kind + "', expected M, *, - or E");
    }
  };
  const auto layer = [&](Size i) { return rms_norm("norm", k("RMSNorm"), hidden) + mixer(i); };
  Part all =
      unsplittable(embedding("embeddings", c.dim({"vocab_size"}), hidden) +
                       stack("layers", k("Block"), static_cast<Size>(pattern.size()), layer) +
                       rms_norm("norm_f", k("RMSNorm"), hidden),
                   {k("Block")});
  return with_quirks(with_norm(std::move(all), "NemotronHRMSNorm", NormKind::rms_raised),
                     {.router = {.kind = RouterKind::sigmoid}});
}

/// The head is never tied.
Part nemotron_h(const Config& c) {
  return in("model", "NemotronHModel", nemotron_h_model(c)) +
         lm_head("", c.dim({"vocab_size"}), c.dim({"hidden_size"}), false);
}

/// Layers of the kinds that the config lists. The first has the projection of two hidden states,
/// the last one more norm. Source: vLLM 0.33 nemotron_h_mtp.py.
Part predictor(const Config& c, Size number) {
  const Classes k{"NemotronH"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string norm = k("RMSNorm"), act = activation_class(c, {"mlp_hidden_act"}, "relu2");
  constexpr std::string_view key = "mtp_hybrid_override_pattern";
  const std::string pattern =
      c.has(key) ? c.text({key})
                 : letters_of(c, "mtp_layers_block_type", c.texts({"mtp_layers_block_type"}));
  if (pattern.find_first_not_of("*E") != std::string::npos || pattern.empty())
    c.fail(key, "found '" + pattern + "', expected * for attention or E for mixture, one a layer");
  const auto layers = static_cast<Size>(pattern.size());
  Part all;
  for (Size i = 0; i < layers; ++i) {
    const bool mixes = pattern[static_cast<std::size_t>(i)] == 'E';
    Part layer = rms_norm("norm", norm, hidden) +
                 (mixes ? in("mixer", k("MoE"), mixture(c, k, act))
                        : in("mixer", k("Attention"), attention(hidden, attention_heads(c))));
    if (i == 0)
      layer = rms_norm("enorm", norm, hidden) + rms_norm("hnorm", norm, hidden) +
              linear("eh_proj", 2 * hidden, hidden) + std::move(layer);
    if (i + 1 == layers) layer = std::move(layer) + rms_norm("final_layernorm", norm, hidden);
    all = std::move(all) +
          in("mtp.layers." + std::to_string(number * layers + i), k("Block"), std::move(layer));
  }
  return all;
}

}  // namespace headroom::model::families::nemotron_h
