// Inkling 2: Inkling with gates, sinks and attention over the outputs of earlier blocks. In the
// looped form (Mini), a token runs through the middle layers several times.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/inkling.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::inkling2 {

using inkling::Kind;
using inkling::kind_of;
using inkling::short_conv;
using inkling::slides;

/// Layers [first, last) run `passes` times. Later runs hear messages of the run before.
struct Loop {
  Size first = 0, last = 0, passes = 1;
  Size gate_rank = 0;
  bool has(Size layer) const { return layer >= first && layer < last; }
};

/// Older files keep the loop in a section of its own.
Loop loop_of(const Config& c) {
  const Config own = c.section_or_empty("loop_config");
  const auto stated = [&](std::string_view older, std::string_view key, Size fallback) {
    return own.count({older}, c.count({key}, fallback));
  };
  const Loop loop{stated("core_start", "loop_layer_index_start", 6),
                  stated("core_end", "loop_layer_index_end", 18),
                  stated("num_passes", "loop_num_passes", 3),
                  stated("gate_rank", "loop_gate_rank", 64)};
  if (loop.first < 1 || loop.first > loop.last || loop.last > c.dim({"num_hidden_layers"}))
    c.fail("loop_layer_index_end", "expected a range of layers behind the first layer");
  if (loop.passes < 1 || loop.passes > most_layers)
    c.fail("loop_num_passes", "found " + std::to_string(loop.passes) + ", expected 1 to " +
                                  std::to_string(most_layers));
  return loop;
}

/// A convolution with a kernel that depends on the token. Each of `heads` has a separate kernel.
Part dynamic_conv(std::string_view name, Classes k, Size hidden, Size channels, Size heads,
                  Size kernel) {
  Part p = tensor("static_weight", {kernel, channels}, Role::conv) +
           linear("weight_proj", hidden, heads * kernel);
  p.caches = {recurrent_state(channels, kernel, 0)};
  return in(name, k("DynamicShortConvolution"), std::move(p));
}

/// Learned queries that attend to the outputs of earlier blocks.
Part earlier_blocks(std::string_view name, std::string_view class_name, Classes k, Shape query) {
  return in(name, class_name,
            in_fp32(tensor("query", std::move(query), Role::other)) +
                module("norm", k("UnweightedRMSNorm")));
}
Part earlier_blocks(std::string_view name, Classes k, Shape query) {
  return earlier_blocks(name, k("BlockAttentionResidual"), k, std::move(query));
}

/// Limits the length of each head's vector. In layers over the whole context, the limit also grows
/// with the position.
Part clip(Classes k, const Kind& a, Size dim) {
  const Part scale = tensor("scale", {a.heads.query, dim}, Role::other);
  if (a.sliding) return in("norm", k("ScaledL2Clip"), scale);
  return in("norm", k("LogScaledL2Clip"),
            scale + module("l2_clip", k("L2Clip")) + module("log_scale", k("LogScale")));
}

Part attention(const Config& c, Classes k, const Kind& a) {
  const Size hidden = c.dim({"hidden_size"}), kernel = c.dim({"conv_kernel_size"}, 4);
  const Size relative = c.dim({"d_rel"}, 16);
  const Size query = a.heads.query * a.heads.dim, kv = a.heads.kv * a.heads.dim;
  const Part conv = a.sliding ? in_fp32(short_conv("sconv", k, kv, kernel))
                              : dynamic_conv("sconv", k, hidden, kv, a.heads.kv, kernel);
  const auto projected = [&](std::string_view name, std::string_view norm) {
    return in(name, k("KeyValueProjection"),
              linear("linear", hidden, kv) + conv + module("norm", k(norm)));
  };
  Part p = in("q_proj", k("QueryProjection"),
              linear("linear", hidden, query) + clip(k, a, a.heads.dim)) +
           projected("k_proj", "L2Clip") + projected("v_proj", "UnweightedRMSNorm") +
           in("o_proj", k("GatedOutputProjection"),
              linear("gate_proj", hidden, query) + linear("linear", query, hidden)) +
           linear("sink_proj", hidden, a.heads.query) +
           in("relative_position_bias", k("RelativePositionBias"),
              tensor("proj", {relative, a.reach}, Role::matmul) +
                  linear("linear", hidden, a.heads.query * relative) + clip(k, a, relative));
  p.caches.push_back(kv_cache(a.heads, a.window));
  return in("self_attn", k(a.sliding ? "SlidingAttention" : "FullAttention"), std::move(p));
}

Part mixture(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"n_routed_experts"});
  Part experts = stacked_experts(hidden, inner, r) +
                 in("act_fn", k("SoftcappedSwiGLU"),
                    module("gate_softcap", k("Softcap")) + module("up_softcap", k("Softcap")));
  return in("mlp", k("SparseMoeBlock"),
            in("experts", k("Experts"), std::move(experts)) +
                in("gate", k("TopKRouter"),
                   in_fp32(tensor("weight", {r.experts, hidden}, Role::matmul)) +
                       module("score_fn", activation_class(c, {"scoring_func"}, "sigmoid")) +
                       in_fp32(score_correction(r.experts))));
}

/// How far a message of the run before changes an input. The first run has no message, but counts
/// like the others.
Part message_gates(const Config& c, Classes k, Size rank) {
  const Size hidden = c.dim({"hidden_size"});
  Part gates;
  for (const auto name : {"q_message_gate", "k_message_gate", "v_message_gate", "mlp_message_gate"})
    gates = std::move(gates) +
            in(name, k("MessageGate"),
               module("norm", k("UnweightedRMSNorm")) + linear("down_proj", 2 * hidden, rank) +
                   in_fp32(linear("forget_gate_proj", rank, hidden) +
                           linear("message_gate_proj", rank, hidden)));
  return gates;
}

Part layer(const Config& c, Classes k, Size i, const Loop& loop) {
  const Size hidden = c.dim({"hidden_size"}), kernel = c.dim({"conv_kernel_size"}, 4);
  const Kind a = kind_of(c, slides(c, i));
  Part p;
  if (i > 0) p = earlier_blocks("attention_input", k, a.sliding ? Shape{hidden} : Shape{3, hidden});
  p = std::move(p) + earlier_blocks("mlp_input", k, {hidden}) + attention(c, k, a) + mixture(c, k);
  if (a.sliding)
    p = std::move(p) + rms_norm("input_layernorm", k("RMSNorm"), hidden);
  else
    for (const auto name : {"q_input_layernorm", "k_input_layernorm", "v_input_layernorm"})
      p = std::move(p) + rms_norm(name, k("RMSNorm"), hidden);
  p = std::move(p) + rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
      in_fp32(short_conv("post_attention_convolution", k, hidden, kernel) +
              short_conv("post_mlp_convolution", k, hidden, kernel));
  if (!loop.has(i)) return p;
  return cached_by_each(std::move(p) + message_gates(c, k, loop.gate_rank), loop.passes);
}

/// The content of the text model. Its loop is empty unless the class has one.
Part text_body(const Config& c, Classes k, const Loop& loop) {
  const Size hidden = c.dim({"hidden_size"});
  const auto class_of = [&](Size i) {
    return k(std::string(slides(c, i) ? "Sliding" : "Full") + (loop.has(i) ? "Loop" : "") +
             "DecoderLayer");
  };
  Part body = inkling::normed_embedding(c, k) +
              layers_repeated(mixed_stack("layers", c.dim({"num_hidden_layers"}), class_of,
                                          [&](Size i) { return layer(c, k, i, loop); }),
                              "layers", loop.first, loop.last, loop.passes) +
              rms_norm("norm", k("RMSNorm"), hidden) + earlier_blocks("final_input", k, {hidden});
  if (loop.last > loop.first)
    body = std::move(body) + earlier_blocks("message_input", k("MessageAttentionResidual"), k,
                                            {loop.last - loop.first, 4, hidden});
  return body;
}

/// A token of an image is a square of patches.
Part tower(const Config& v) {
  const Classes k{"Inkling2"};
  const Size width = v.dim({"hidden_size"}, 1024), heads = v.dim({"num_attention_heads"}, 16);
  const auto scaled =
      whole_width(v, "mlp_ratio", v.number({"mlp_ratio"}, 4.0) * static_cast<double>(width));
  const Size inner = v.dim({"intermediate_size"}, scaled);
  const Size patch = v.dim({"patch_size"}, 20), side = v.dim({"posemb_grid_size"}, 32);
  const Size merge = v.dim({"spatial_merge_size"}, 2), middle = v.dim({"projection_hidden_dim"});
  const Bias bias = v.bias({"projector_bias"}, false);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  Part attention;
  for (const auto name : {"k_proj", "v_proj", "q_proj", "out_proj"})
    attention = std::move(attention) + linear(name, width, width, Bias::yes);
  const Part block = tensor("lambda_1", {width}, Role::other) +
                     tensor("lambda_2", {width}, Role::other) +
                     in("self_attn", k("VisionAttention"), std::move(attention)) +
                     in("mlp", k("VisionMLP"),
                        module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                            linear("fc2", inner, width, Bias::yes)) +
                     layer_norm("layernorm_before", width) + layer_norm("layernorm_after", width);
  return in("embeddings", k("VisionEmbeddings"),
            tensor("class_embedding", {width}, Role::other) +
                tensor("cls_position_embedding", {width}, Role::other) +
                linear("patch_embedding", times({v.dim({"num_channels"}, 3), patch, patch}),
                       width) +
                embedding("position_embedding", side * side, width)) +
         layer_norm("pre_layernorm", width) +
         frequencies("rotary_emb", k("VisionRotaryEmbedding"), (width / heads / 2 + 1) / 2) +
         stack("layers", k("VisionEncoderLayer"), v.dim({"num_hidden_layers"}, 23),
               [&] { return block; }) +
         in("merger", k("VisionMerger"),
            linear("linear_1", merge * merge * width, middle, bias) + module("act", act) +
                linear("linear_2", middle, v.dim({"text_hidden_size"}), bias));
}

/// The head leaves out the rows that only fill up the vocabulary. Nothing is tied.
Part head(const Config& text, Classes k) {
  return output_head("lm_head", text.dim({"hidden_size"}),
                     text.dim({"unpadded_vocab_size"}, 200058)) +
         module("logit_softcap", k("Softcap"));
}

std::vector<std::string> placed_whole(Classes k, bool loops) {
  std::vector<std::string> all{k("FullDecoderLayer"), k("SlidingDecoderLayer")};
  if (!loops) return all;
  all.push_back(k("FullLoopDecoderLayer"));
  all.push_back(k("SlidingLoopDecoderLayer"));
  return all;
}

/// The tower is a model of its own, with Inkling 2's list.
std::vector<std::string> placed_whole_with_tower(Classes k, bool loops) {
  auto all = placed_whole(k, loops);
  if (loops)
    for (auto& name : placed_whole(Classes{"Inkling2"}, false)) all.push_back(std::move(name));
  all.push_back("Inkling2VisionEncoderLayer");
  return all;
}

/// The text model alone.
Part text_alone(const Config& c, Classes k, const Loop& loop, std::vector<std::string> whole) {
  return unsplittable(in("model", k("TextModel"), text_body(c, k, loop)) + head(c, k),
                      std::move(whole));
}

/// The text model with Inkling 2's tower.
Part with_tower(const Config& c, const Config& text, Classes k, const Loop& loop) {
  const Config v = section_of(c, "vision_config", "inkling2_vision");
  return unsplittable(in("model", k("Model"),
                         in("language_model", k("TextModel"), text_body(text, k, loop)) +
                             in("vision_tower", "Inkling2VisionModel", tower(v))) +
                          head(text, k),
                      placed_whole_with_tower(k, loop.last > loop.first));
}

/// Source: transformers 5.24, models/inkling2/{configuration,modeling}_inkling2.py.
Part inkling2_text(const Config& c) {
  const Classes k{"Inkling2"};
  return text_alone(c, k, {}, placed_whole_with_tower(k, false));
}
Part inkling2(const Config& c) {
  return with_tower(c, section_of(c, "text_config", "inkling2_text"), {"Inkling2"}, {});
}

/// Source: transformers 5.24, models/inkling2_loop/{configuration,modeling}_inkling2_loop.py.
Part inkling2_loop_text(const Config& c) {
  const Classes k{"Inkling2Loop"};
  return text_alone(c, k, loop_of(c), placed_whole(k, true));
}
Part inkling2_loop(const Config& c) {
  const Config text = section_of(c, "text_config", "inkling2_loop_text");
  return with_tower(c, text, {"Inkling2Loop"}, loop_of(text));
}

}  // namespace headroom::model::families::inkling2
