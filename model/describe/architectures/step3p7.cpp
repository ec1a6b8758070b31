// Step-3.7: a tower that halves its image twice by convolutions, and a mixture of experts.
// Sliding-window layers have a different number of heads. Gates scale the heads.
#include "model/describe/architectures/step3p7.hpp"

#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::step3p7 {

/// The kind of each layer. Files with multi-token-prediction layers list those layers last.
std::vector<std::string> kinds(const Config& c, std::string_view key, Size layers) {
  auto types = c.texts({key});
  const Size more = c.count({"num_nextn_predict_layers"}, 0);
  if (static_cast<Size>(types.size()) == layers + more)
    types.resize(static_cast<std::size_t>(layers));
  return types;
}

std::vector<bool> sparse_layers(const Config& c, Size layers, Size dense) {
  if (layers > most_layers)
    c.fail("num_hidden_layers", "found " + std::to_string(layers) + ", at most " +
                                    std::to_string(most_layers) + " are supported");
  std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
  if (const auto types = kinds(c, "mlp_layer_types", layers); !types.empty()) {
    for (Size i = 0; i < layers; ++i)
      sparse[static_cast<std::size_t>(i)] = layer_type(c, types, i, "mlp_layer_types") == "sparse";
    return sparse;
  }
  std::set<Size> numbers;
  const std::string_view key = c.has("moe_layers_enum") ? "moe_layers_enum" : "moe_layer_list";
  const auto* listed = c.object().if_contains(key);
  if (listed && listed->is_string()) {
    const std::string text = c.text({key});
    for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
      Size number = 0;
      const auto [next, error] = std::from_chars(at, end, number);
      if (error == std::errc{}) numbers.insert(number), at = next;
    }
  } else if (c.has(key)) {
    for (const Size number : c.dims({key})) numbers.insert(number);
  } else {
    for (Size i = dense; i < layers; ++i) numbers.insert(i);
  }
  for (Size i = 0; i < layers; ++i) sparse[static_cast<std::size_t>(i)] = numbers.contains(i);
  return sparse;
}

/// Sources: vLLM 0.33 step3_text.py and models/step5/nvidia/model.py.
Part stacked_experts(const Config& c, Classes k, Router router) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r =
      routing_of(c, {"moe_num_experts", "n_routed_experts"}, {"moe_top_k", "num_experts_per_tok"});
  const auto stacked = [&](std::string_view name, Size rows, Size columns) {
    return in(name, k("MoELinear"),
              routed(tensor("weight", {r.experts, rows, columns}, Role::matmul), r));
  };
  const Part gate = linear("gate", hidden, r.experts);
  return in(
      "moe", k("MoE"),
      stacked("gate_proj", inner, hidden) + stacked("up_proj", inner, hidden) +
          stacked("down_proj", hidden, inner) +
          (router == Router::corrected ? in_fp32(gate + score_correction(r.experts, "router_bias"))
                                       : gate));
}

/// Sizes of attention, whose sliding layers have heads of their own.
struct Attention {
  Heads all;
  Size sliding, window;
  Bias bias;
};
Attention attention_of(const Config& c) {
  const Heads all{c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}),
                  c.dim({"head_dim"})};
  return {
      all,
      c.dim({"num_sliding_attention_heads"},
            c.section_or_empty("attention_other_setting").dim({"num_attention_heads"}, all.query)),
      c.dim_or_none({"sliding_window"}, 0), c.bias({"attention_bias"}, false)};
}

/// Attention of one layer with `query` heads.
Part attention_part(const Config& c, const Attention& a, Size query, bool slides) {
  const Classes k{"Step3p7"};
  const Size hidden = c.dim({"hidden_size"});
  Heads h = a.all;
  h.query = query;
  return in("self_attn", k("Attention"),
            attention(hidden, h, a.bias, a.bias, slides ? a.window : 0) +
                head_norms(k("RMSNorm"), h.dim) + linear("g_proj", hidden, h.query));
}

Part text(const Config& c) {
  const Classes k{"Step3p7"};
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Attention a = attention_of(c);
  const Size shared = c.dim({"share_expert_dim"});
  const Bias mlp_bias = c.bias({"mlp_bias"}, false);
  const Routing r = routing_of(c, {"n_routed_experts", "moe_num_experts", "num_experts"},
                               {"num_experts_per_tok", "moe_top_k"});
  const auto sparse = sparse_layers(c, layers, c.count({"first_k_dense_replace"}, 3));
  auto types = kinds(c, "layer_types", layers);
  if (types.empty()) types.assign(static_cast<std::size_t>(layers), "full_attention");
  const std::string act = "SiLUActivation";
  const Part mixture =
      router("gate", k("TopKRouter"), hidden, r.experts) +
      at("gate", buffer("e_score_correction_bias", {r.experts}, Element::floating, true)) +
      fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
      in("shared_experts", k("MLP"), gated_mlp(hidden, shared, act, mlp_bias));
  const auto factor = [&](const std::string& kind) {
    const auto shares = c.numbers({"partial_rotary_factors"});
    const auto first =
        static_cast<std::size_t>(std::find(types.begin(), types.end(), kind) - types.begin());
    return first < shares.size() ? shares[first] : 1.0;
  };
  Part body =
      embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
      stack("layers", k("DecoderLayer"), layers,
            [&](Size i) {
              const bool slides = layer_type(c, types, i) == "sliding_attention";
              const Size query = layer_section(c, i).dim({"num_attention_heads"},
                                                         slides ? a.sliding : a.all.query);
              return attention_part(c, a, query, slides) +
                     (sparse[static_cast<std::size_t>(i)]
                          ? in("mlp", k("SparseMoeBlock"), mixture)
                          : in("mlp", k("MLP"),
                               gated_mlp(hidden, c.dim({"intermediate_size"}), act, mlp_bias))) +
                     rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                     rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
            }) +
      rms_norm("norm", k("RMSNorm"), hidden) +
      rotary_by_kind(c, k("RotaryEmbedding"), kinds_of(types), a.all.dim, factor);
  return with_quirks(with_norm(unsplittable(std::move(body), {k("DecoderLayer")}), k("RMSNorm"),
                               NormKind::rms_plus_1),
                     {.attention = {.rotation = Rotation::concatenated},
                      .router = {.kind = RouterKind::sigmoid_as_is, .converted = false}});
}

/// Sources: vLLM 0.33 step3p5_mtp.py, SGLang 0.5.23 step3p5_mtp.py. Layers after the model's are
/// dense. The lists of kinds go on for them.
Part predictor(const Config& file, Size number) {
  const Config c = with_class_defaults(file, "step3p5");
  const Classes k{"Step3p7"};
  const Size hidden = c.dim({"hidden_size"}), layer = c.dim({"num_hidden_layers"}) + number;
  const auto types = file.texts({"layer_types"});
  if (static_cast<std::size_t>(layer) >= types.size()) return {};
  const bool slides = types[static_cast<std::size_t>(layer)] == "sliding_attention";
  const Attention a = attention_of(c);
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), hidden); };
  return in("model.layers." + std::to_string(layer), k("MultiTokenPredictorLayer"),
            norm("enorm") + norm("hnorm") + linear("eh_proj", 2 * hidden, hidden) +
                at("transformer", attention_part(c, a, slides ? a.sliding : a.all.query, slides) +
                                      in("mlp", k("MLP"),
                                         gated_mlp(hidden, c.dim({"intermediate_size"}),
                                                   "SiLUActivation", c.bias({"mlp_bias"}, false))) +
                                      norm("input_layernorm") + norm("post_attention_layernorm")) +
                at("transformer.shared_head",
                   norm("norm") + output_head("output", hidden, c.dim({"vocab_size"}))));
}

Part tower(const Config& v) {
  const std::string k = "Step3p7Vision";
  const Size width = v.dim({"width", "hidden_size"}), patch = v.dim({"patch_size"});
  const Size inner = whole_width(
      v, "mlp_ratio", static_cast<double>(width) * v.number({"mlp_ratio"}, 8960.0 / 1536));
  const Size side = v.dim({"image_size"}) / patch, positions = side * side;
  const Size heads = v.dim({"heads", "num_attention_heads"});
  const Part layer =
      tensor("lambda_1", {width}, Role::other) + tensor("lambda_2", {width}, Role::other) +
      in("self_attn", k + "Attention",
         linear("k_proj", width, width, Bias::yes) + linear("v_proj", width, width, Bias::yes) +
             linear("q_proj", width, width, Bias::yes) +
             linear("out_proj", width, width, Bias::yes)) +
      in("mlp", k + "MLP",
         module("activation_fn", activation_class(v, {"hidden_act"}, "quick_gelu")) +
             linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)) +
      layer_norm("layernorm_before", width) + layer_norm("layernorm_after", width);
  const auto halved = [&](std::string_view name, Size from) {
    return convolution(name, "Conv2d", {2 * from, from, 3, 3}, Bias::yes);
  };
  return in("embeddings", k + "Embeddings",
            convolution("patch_embedding", "Conv2d",
                        {width, v.dim({"num_channels"}, 3), patch, patch}) +
                embedding("position_embedding", positions, width) + position_ids(positions)) +
         layer_norm("pre_layernorm", width) +
         frequencies("rotary_emb", k + "RotaryEmbedding", width / heads / 4) +
         stack("layers", k + "EncoderLayer", v.dim({"layers", "num_hidden_layers"}),
               [&] { return layer; }) +
         halved("downsampler1", width) + halved("downsampler2", 2 * width);
}

/// The language model alone. Source: vLLM 0.33 step3p5.py; transformers 5.23, models/step3p7.
Part step3p5(const Config& c) {
  Part body = in("model", "Step3p7TextModel", text(with_class_defaults(c, "step3p5")));
  return with_language_head(std::move(body), c, false, "");
}

/// Source: transformers 5.23, models/step3p7.
Part step3p7(const Config& c) {
  const Config t = with_class_defaults(c.section_or_empty("text_config"), "step3p5");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "step3p5_vision");
  Part body = in("model", "Step3p7Model",
                 in("vision_model", "Step3p7VisionModel", tower(v)) +
                     in("language_model", "Step3p7TextModel", text(t)) +
                     linear("multi_modal_projector", 4 * v.dim({"width", "hidden_size"}),
                            t.dim({"hidden_size"}), c.bias({"projector_bias"}, false)));
  return with_language_head(with_unsplittable(std::move(body), {"Step3p7VisionEncoderLayer"}), t,
                            head_is_tied(c, t, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::step3p7
