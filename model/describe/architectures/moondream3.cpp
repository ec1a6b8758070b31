// Moondream 3: a tower like SigLIP's and a decoder whose later layers are mixtures. Attention and
// feed-forward run in parallel behind one norm.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::moondream3 {

Part two_layers(std::string_view name, Size from, Size inner, Size to) {
  return in(name, "MLP",
            linear("fc1", from, inner, Bias::yes) + module("act", "GELUTanh") +
                linear("fc2", inner, to, Bias::yes));
}

Part joined_attention(Size width, Size joined, Part more = {}) {
  return linear("qkv", width, joined, Bias::yes) + linear("proj", width, width, Bias::yes) +
         std::move(more);
}

Part tower(const Config& v, Size out) {
  const Size width = v.dim({"enc_dim"}, 1152), inner = v.dim({"enc_ff_dim"}, 4304);
  const Size patch = v.dim({"enc_patch_size"}, 14), side = v.dim({"crop_size"}, 378) / patch;
  const auto layer = [&] {
    return layer_norm("ln1", width) + in("attn", "Attention", joined_attention(width, 3 * width)) +
           layer_norm("ln2", width) + two_layers("mlp", width, inner, width);
  };
  return tensor("pos_emb", {1, side * side, width}, Role::embedding) +
         linear("patch_emb", patch * patch * 3, width, Bias::yes) +
         stack("blocks", "VisionBlock", v.dim({"enc_n_layers"}, 27), layer) +
         layer_norm("post_ln", width) +
         two_layers("proj_mlp", 2 * width, v.dim({"proj_inner_dim"}, 8192), out);
}

/// A router with biases, and experts with a gate. A token uses `n_experts_per_tok` of them.
Part mixture(const Config& moe, Size width) {
  const Size inner = moe.dim({"expert_inner_dim"}, 1024);
  const Config known = moe.with_defaults({{"n_experts", 64}, {"n_experts_per_tok", 8}});
  const Routing r = routing_of(known, {"n_experts"}, {"n_experts_per_tok"});
  const auto experts = [&](std::string_view name, Shape shape) {
    return in(name, "Experts", routed(tensor("weight", std::move(shape), Role::matmul), r));
  };
  return in("mlp", "MoE",
            linear("router", width, r.experts, Bias::yes) +
                experts("fc1", {r.experts, 2 * inner, width}) +
                experts("fc2", {r.experts, width, inner}) + module("act", "GELUActivation"));
}

Part decoder(const Config& t) {
  const Size width = t.dim({"dim"}, 2048), inner = t.dim({"ff_dim"}, 8192);
  const Size heads = t.dim({"n_heads"}, 32), vocabulary = t.dim({"vocab_size"}, 51200);
  const Heads h{heads, t.dim({"n_kv_heads"}, heads), width / heads};
  const Config moe = t.section_or_empty("moe");
  const Size first = moe.count({"start_layer"}, 4), joined = (h.query + 2 * h.kv) * h.dim;
  const auto layer = [&](Size i) {
    Part attn = joined_attention(
        width, joined,
        in("tau", "Tau",
           tensor("alpha", {heads}, Role::other) + tensor("wq", {heads, joined}, Role::matmul) +
               tensor("wv", {heads, joined}, Role::matmul)));
    attn.caches = {kv_cache(h)};
    return layer_norm("ln", width) + in("attn", "TauAttention", std::move(attn)) +
           (i < first ? two_layers("mlp", width, inner, width) : mixture(moe, width));
  };
  return tensor("wte", {vocabulary, width}, Role::embedding) +
         with_quirks(stack("blocks", "DecoderBlock", t.dim({"n_layers"}, 24), layer),
                     {.parallel = Parallel::yes}) +
         layer_norm("post_ln", width) + output_head("lm_head", width, vocabulary, Bias::yes);
}

/// Source: vLLM 0.33 moondream3.py and transformers_utils/configs/moondream3.py. The modules for
/// points and boxes (`region`) are left out, as vLLM leaves them out.
Part moondream3(const Config& c) {
  if (const std::string type = c.text({"model_type"}, "moondream3"); type != "moondream3")
    c.fail("model_type", "found '" + type +
                             "', expected moondream3: earlier versions under this "
                             "class are not described");
  const Config sizes = c.section_or_empty("config");
  const Config t = sizes.section_or_empty("text"), v = sizes.section_or_empty("vision");
  return in("model", "MoondreamModel",
            in("vision", "VisionEncoder", tower(v, t.dim({"dim"}, 2048))) +
                in("text", "TextModel", unsplittable(decoder(t), {"DecoderBlock"})));
}

}  // namespace headroom::model::families::moondream3
