#include "model/describe/architectures/inkling.hpp"

#include <algorithm>
#include <cmath>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::inkling {

Part short_conv(std::string_view name, Classes k, Size channels, Size kernel) {
  Part p = depthwise_conv("conv1d", channels, kernel, Bias::no);
  p.caches = {recurrent_state(channels, kernel, 0)};
  return in(name, k("ShortConvolution"), std::move(p));
}

Kind kind_of(const Config& c, bool sliding) {
  const std::string own = sliding ? "swa_" : "";
  const Heads heads{c.dim({own + "num_attention_heads"}), c.dim({own + "num_key_value_heads"}),
                    c.dim({own + "head_dim"})};
  const Size window = c.dim({"sliding_window_size"}, 512);
  return {sliding, heads, sliding ? window : 0, sliding ? window : c.dim({"rel_extent"}, 1024)};
}

bool slides(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (!types.empty()) return layer_type(c, types, i) == "hybrid_sliding";
  if (!c.has("local_layer_ids")) return (i + 1) % 6 != 0;
  const auto local = c.dims({"local_layer_ids"});
  return std::find(local.begin(), local.end(), i) != local.end();
}

Part projections(const Config& c, const Kind& a) {
  const Size hidden = c.dim({"hidden_size"}), kv = a.heads.kv * a.heads.dim;
  Part p = linear("q_proj", hidden, a.heads.query * a.heads.dim) + linear("k_proj", hidden, kv) +
           linear("v_proj", hidden, kv) +
           linear("r_proj", hidden, a.heads.query * c.dim({"d_rel"}, 16)) +
           linear("o_proj", a.heads.query * a.heads.dim, hidden);
  p.caches = {kv_cache(a.heads, a.window)};
  return p;
}

Part relative_logits(const Config& c, Classes k, const Kind& a) {
  return in("rel_logits_proj", k("RelativeLogits"),
            tensor("proj", {c.dim({"d_rel"}, 16), a.reach}, Role::matmul));
}

Part normed_embedding(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  return in("embed_tokens", k("NormedEmbedding"),
            tensor("weight", {c.dim({"vocab_size"}), hidden}, Role::embedding) +
                rms_norm("embed_norm", k("RMSNorm"), hidden));
}

Part first_attention(const Config& c, Classes k, const Kind& a) {
  const Size kv = a.heads.kv * a.heads.dim, kernel = c.dim({"conv_kernel_size"}, 4);
  return in("self_attn", k("Attention"),
            projections(c, a) + short_conv("k_sconv", k, kv, kernel) +
                short_conv("v_sconv", k, kv, kernel) + head_norms(k("RMSNorm"), a.heads.dim) +
                relative_logits(c, k, a));
}

Part first_mixture(const Config& c, Classes k, Size inner) {
  const Size hidden = c.dim({"hidden_size"}), shared = c.count({"n_shared_experts"}, 2);
  const Routing r = routing_of(c, {"n_routed_experts"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return in("mlp", k("MoE"),
            in("gate", k("TopkRouter"),
               tensor("weight", {r.experts + shared, hidden}, Role::matmul) +
                   tensor("global_scale", {1}, Role::other) + score_correction(r.experts)) +
                fused_experts(k("Experts"), hidden, inner, r, act) +
                in("shared_experts", k("SharedExperts"),
                   tensor("gate_proj", {shared, inner, hidden}, Role::matmul) +
                       tensor("up_proj", {shared, inner, hidden}, Role::matmul) +
                       tensor("down_proj", {shared, hidden, inner}, Role::matmul) +
                       module("act_fn", act)));
}

/// The gated feed-forward of dense layers has a learned scale.
Part first_dense(const Config& c, Classes k, Size inner) {
  return in(
      "mlp", k("MLP"),
      tensor("global_scale", {1}, Role::other) +
          gated_mlp(c.dim({"hidden_size"}), inner, activation_class(c, {"hidden_act"}, "silu")));
}

Part first_text(const Config& c) {
  const Classes k{"Inkling"};
  const Size hidden = c.dim({"hidden_size"}), kernel = c.dim({"conv_kernel_size"}, 4);
  // If the dense width has its own key, intermediate_size is the width of an expert.
  const bool apart = c.has("dense_intermediate_size");
  const Size dense = c.dim({"dense_intermediate_size", "intermediate_size"});
  const Size inner = c.dim({apart ? "intermediate_size" : "moe_intermediate_size"});
  const Size dense_layers = c.count({"dense_mlp_idx"}, 0);
  return unsplittable(
      normed_embedding(c, k) +
          stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}),
                [&](Size i) {
                  const bool sparse =
                      c.has("mlp_layer_types") ? is_sparse(c, i, 0) : i >= dense_layers;
                  return first_attention(c, k, kind_of(c, slides(c, i))) +
                         (sparse ? first_mixture(c, k, inner) : first_dense(c, k, dense)) +
                         rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
                         short_conv("attn_sconv", k, hidden, kernel) +
                         short_conv("mlp_sconv", k, hidden, kernel);
                }) +
          rms_norm("norm", k("RMSNorm"), hidden),
      {k("DecoderLayer")});
}

struct Grid {
  Size time, side, channels;
};

/// Prime factors, largest first.
std::vector<Size> factors(Size n) {
  std::vector<Size> all;
  for (Size p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) all.insert(all.begin(), p);
  return all;
}

/// The grids through which the layers fold a patch, one more than there are layers. Each layer gets
/// the grid whose size is nearest to an even progression. Source: plan_out_scales of
/// modeling_inkling.py.
std::vector<Grid> folds(const Config& v, Size layers) {
  const Size patch = v.dim({"patch_size"}, 40), frames = v.dim({"temporal_patch_size"}, 2);
  const Size channels = v.dim({"num_channels"}, 3);
  std::vector<Grid> scales{{1, 1, channels}};
  Size side = 1, time = 1;
  for (const Size factor : factors(patch)) {
    side *= factor;
    scales.push_back({1, side, (times({side, side, channels}) + 63) / 64 * 64});
  }
  for (const Size factor : factors(frames)) {
    time *= factor;
    scales.push_back({time, side, times({side, side, channels, time, 64})});
  }
  if (layers < static_cast<Size>(scales.size()))
    v.fail("num_hidden_layers", "fewer layers than the patch has factors are not described");
  std::vector<Grid> chosen;
  const double whole = std::log(static_cast<double>(times({patch, patch, frames, channels})));
  for (Size i = 0; i <= layers; ++i) {
    const double ideal = whole * static_cast<double>(i) / static_cast<double>(layers);
    const auto off = [&](const Grid& g) {
      return std::abs(ideal - std::log(static_cast<double>(g.time * g.side * g.side)));
    };
    chosen.push_back(
        *std::min_element(scales.begin(), scales.end(),
                          [&](const Grid& a, const Grid& b) { return off(a) < off(b); }));
  }
  chosen.front() = scales.front();
  chosen.back() = scales.back();
  return chosen;
}

Part first_vision(const Config& v, Classes k, Size width) {
  const Size layers = v.dim({"n_layers", "num_hidden_layers"});
  if (layers > most_layers) v.fail("num_hidden_layers", "more layers than are supported");
  const auto grids = folds(v, layers);
  return stack("encoder_layers", k("VisionEncoderLayer"), layers,
               [&](Size i) {
                 const Grid &from = grids[static_cast<std::size_t>(i)],
                            &to = grids[static_cast<std::size_t>(i) + 1];
                 const Size folded =
                     to.time / from.time * (to.side / from.side) * (to.side / from.side);
                 const bool last = i + 1 == layers;
                 const Size out = last ? width : to.channels;
                 Part p = linear("projection", from.channels * folded, out);
                 return last ? p : p + rms_norm("layer_norm", k("RMSNorm"), out);
               }) +
         rms_norm("final_norm", k("RMSNorm"), width);
}

/// Source: transformers 5.23, models/inkling/{configuration,modeling}_inkling.py. Nothing is tied.
Part inkling_text(const Config& c) {
  return in("model", "InklingTextModel", first_text(c)) +
         output_head("lm_head", c.dim({"hidden_size"}), c.dim({"vocab_size"}));
}

Part inkling(const Config& c) {
  const Classes k{"Inkling"};
  const Config text = section_of(c, "text_config", "inkling_text");
  const Config a = section_of(c, "audio_config", "inkling_audio");
  const Config v = section_of(c, "vision_config", "inkling_vision");
  const Size width = text.dim({"hidden_size"});
  const Size bins = a.dim({"n_mel_bins"}, 80), codes = a.dim({"mel_vocab_size"}, 256);
  return with_language_head(
      in("model", k("Model"),
         in("language_model", k("TextModel"), first_text(text)) +
             in("audio_tower", k("AudioModel"),
                in("embed_audio_tokens", k("AudioModelEmbeddings"),
                   embedding("embed_audio_tokens", bins * codes, width) +
                       buffer("audio_tokens_offsets", {bins}, Element::int64)) +
                    rms_norm("norm", k("RMSNorm"), width)) +
             in("vision_tower", k("VisionModel"), first_vision(v, k, width))),
      text, false, "");
}

}  // namespace headroom::model::families::inkling
