// T5 and its multilingual and unpadded relatives. Attention has no projection biases, but biases of
// relative positions. Norms are RMS norms. Encoder, decoder and usually the head share one
// embedding.
#include <boost/json.hpp>

#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::t5 {

enum class Side { encoder, decoder };

struct Sizes {
  Size hidden, inner, heads, head_dim, vocab, buckets;
  bool gated;
  std::string act;
};

/// "gated-gelu" is a gated block with gelu_new (Udop: with gelu). Any other "gated-x" is a gated
/// block with x. A stated is_gated_act decides if there is a gate.
Sizes sizes_of(const Config& c, std::string_view prefix) {
  const std::string given = c.text({"feed_forward_proj"}, "relu");
  const bool named = given.starts_with("gated-");
  std::string name = named ? given.substr(6) : given;
  if (given == "gated-gelu" && prefix != "Udop") name = "gelu_new";
  if (activation_class(name).empty())
    c.fail("feed_forward_proj",
           "found '" + given + "', expected an activation or 'gated-' and one");
  return {.hidden = c.dim({"d_model"}),
          .inner = c.dim({"d_ff"}),
          .heads = c.dim({"num_heads"}),
          .head_dim = c.dim({"d_kv"}),
          .vocab = c.dim({"vocab_size"}),
          .buckets = c.dim({"relative_attention_num_buckets"}, 32),
          .gated = c.flag({"is_gated_act"}, named),
          .act = std::string(activation_class(name))};
}

class Builder {
 public:
  Builder(const Config& c, std::string_view prefix)
      : c_(c), prefix_(prefix), s_(sizes_of(c, prefix)) {}

  Part attention(std::string_view name, std::string_view class_name, bool biased,
                 std::vector<Cache> caches) const {
    const Size width = s_.heads * s_.head_dim;
    Part p = linear("q", s_.hidden, width) + linear("k", s_.hidden, width) +
             linear("v", s_.hidden, width) + linear("o", width, s_.hidden);
    if (biased) p = std::move(p) + embedding("relative_attention_bias", s_.buckets, s_.heads);
    if (class_name == "TransientGlobalAttention") {
      if (biased)
        p = std::move(p) + embedding("global_relative_attention_bias", s_.buckets, s_.heads);
      p = std::move(p) + norm("global_input_layer_norm");
    }
    p.caches = std::move(caches);
    return in(name, join(prefix_, class_name), std::move(p)) + norm("layer_norm") + dropout();
  }

  Part feed_forward() const {
    const Part up = s_.gated
                        ? linear("wi_0", s_.hidden, s_.inner) + linear("wi_1", s_.hidden, s_.inner)
                        : linear("wi", s_.hidden, s_.inner);
    return in("DenseReluDense", join(prefix_, s_.gated ? "DenseGatedActDense" : "DenseActDense"),
              up + linear("wo", s_.inner, s_.hidden) + dropout() + module("act", s_.act)) +
           norm("layer_norm") + dropout();
  }

  /// `layer` counts from 0. Only the first layer has the position bias, except in UMT5, where all
  /// have it.
  Part block(Side side, Size layer) const {
    const Heads heads{s_.heads, s_.heads, s_.head_dim};
    const bool biased = layer == 0 || prefix_ == "UMT5";
    const std::string kind = side == Side::encoder ? encoder_kind() : "";
    std::vector<Cache> own, cross;
    if (side == Side::decoder) {
      own = cross = {kv_cache(heads)};
      cross[0].kind = CacheKind::cross_attention;
    }
    Part p = in("0", prefix_ + "Layer" + kind + "SelfAttention",
                attention(kind + "SelfAttention", kind + "Attention", biased, std::move(own)));
    if (side == Side::decoder)
      p = std::move(p) + in("1", join(prefix_, "LayerCrossAttention"),
                            attention("EncDecAttention", "Attention", false, std::move(cross)));
    return in("layer", "ModuleList",
              std::move(p) +
                  in(side == Side::decoder ? "2" : "1", join(prefix_, "LayerFF"), feed_forward()));
  }

  Part stack_of(Side side, Size layers) const {
    return in(side == Side::encoder ? "encoder" : "decoder", join(prefix_, "Stack"),
              embedding("embed_tokens", s_.vocab, s_.hidden) + embedded_patches() +
                  with_quirks(stack("block", join(prefix_, "Block"), layers,
                                    [&](Size i) { return block(side, i); }),
                              quirks()) +
                  norm("final_layer_norm") + dropout() + places(side));
  }

  Part head(std::string_view name) const { return output_head(name, s_.hidden, s_.vocab); }
  Part shared() const { return embedding("shared", s_.vocab, s_.hidden); }
  /// Udop's projection of image patches.
  Part patches(std::string_view name) const {
    const auto [height, width] = pair_of(c_, "patch_size", 16);
    return in(name, join(prefix_, "PatchEmbeddings"),
              convolution("proj", "Conv2d", {s_.hidden, c_.dim({"num_channels"}, 3), height, width},
                          Bias::yes));
  }

 private:
  LayerQuirks quirks() const {
    return {.attention = {.rotation = Rotation::none, .softmax_fp32 = false}};
  }
  Part norm(std::string_view name) const {
    return as_norm(rms_norm(name, join(prefix_, "LayerNorm"), s_.hidden), NormKind::rms_residual);
  }
  Part embedded_patches() const { return prefix_ == "Udop" ? patches("embed_patches") : Part{}; }
  /// Udop's positions of words on the page, and a bias for each direction.
  Part places(Side side) const {
    if (prefix_ != "Udop") return {};
    const Size rows = c_.dim({"max_2d_position_embeddings"}, 1024);
    Part cells = in("cell_2d_embedding", join(prefix_, "CellEmbeddings"),
                    embedding("x_position_embeddings", rows, s_.hidden) +
                        embedding("y_position_embeddings", rows, s_.hidden));
    // The classes fix the number of buckets at 32.
    const auto bias = [&](std::string_view name, std::string_view class_name) {
      return in(name, class_name, embedding("relative_attention_bias", 32, s_.heads));
    };
    if (c_.has("relative_bias_args") && !usual_directions())
      c_.fail("relative_bias_args", "expected the types 1d, horizontal and vertical alone");
    return (side == Side::encoder ? std::move(cells) : Part{}) +
           in("relative_bias", "RelativePositionBiasAggregated",
              in("biases", "ModuleList",
                 bias("0", "RelativePositionBias1D") + bias("1", "RelativePositionBiasHorizontal") +
                     bias("2", "RelativePositionBiasVertical")));
  }
  bool usual_directions() const {
    const boost::json::value usual = {
        {{"type", "1d"}}, {{"type", "horizontal"}}, {{"type", "vertical"}}};
    return c_.object().at("relative_bias_args") == usual;
  }
  /// LongT5's encoder has local or transient-global attention. The others have standard attention.
  std::string encoder_kind() const {
    if (prefix_ != "LongT5") return "";
    const std::string kind = c_.text({"encoder_attention_type"}, "local");
    if (kind == "local") return "Local";
    if (kind == "transient-global") return "TransientGlobal";
    c_.fail("encoder_attention_type", "found '" + kind + "', expected local or transient-global");
  }

  const Config& c_;
  std::string prefix_;
  Sizes s_;
};

/// Source: transformers 5.23, models/t5/modeling_t5.py and its copies in models/mt5, models/umt5
/// and models/longt5. Transformers 5 ignores the config and ties the head. Checkpoints do not.
Part t5(const Config& c) {
  std::string prefix;
  for (const std::string_view name : {"T5", "MT5", "UMT5", "LongT5"})
    if (c.class_name().starts_with(name)) prefix = name;
  const Builder b(c, prefix);
  const Size layers = c.dim({"num_layers"});
  const Size decoder_layers = c.dim({"num_decoder_layers"}, layers);
  const auto whole = [&](Part part) { return unsplittable(std::move(part), {prefix + "Block"}); };
  Part p = b.shared() + b.stack_of(Side::encoder, layers);
  if (is_for(c, "EncoderModel"))
    return tied(whole(std::move(p)), "encoder.embed_tokens.weight", "shared.weight");
  p = whole(std::move(p) + b.stack_of(Side::decoder, decoder_layers));
  if (is_for(c, "ForConditionalGeneration")) p = std::move(p) + b.head("lm_head");
  p = tied(std::move(p), "encoder.embed_tokens.weight", "shared.weight");
  p = tied(std::move(p), "decoder.embed_tokens.weight", "shared.weight");
  if (!is_for(c, "ForConditionalGeneration")) return p;
  // LongT5's checkpoints hold one embedding, so the flag is ignored.
  if (prefix == "LongT5" || c.flag({"tie_word_embeddings"}, true))
    return tied(std::move(p), "lm_head.weight", "shared.weight");
  tensor_of(p, "lm_head.weight").reference_tied_to = "shared.weight";
  return p;
}

/// Udop: T5 that also reads patches of a page and the positions of its words (arXiv:2212.02623).
/// The head is always tied. Source: transformers 5.23,
/// models/udop/{configuration,modeling}_udop.py.
Part udop(const Config& c) {
  const Builder b(c, "Udop");
  const Size layers = c.dim({"num_layers"});
  const std::string first = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight";
  const auto direction = [](const std::string& side) {
    return side + ".relative_bias.biases.0.relative_attention_bias.weight";
  };
  const bool whole = !is_for(c, "EncoderModel"), writes = is_for(c, "ForConditionalGeneration");
  Part p = b.shared() + b.patches("patch_embed") + b.stack_of(Side::encoder, layers);
  if (whole) p = std::move(p) + b.stack_of(Side::decoder, c.dim({"num_decoder_layers"}, layers));
  if (writes) p = std::move(p) + b.head("lm_head");
  p = tied(std::move(p), "encoder.embed_tokens.weight", "shared.weight");
  for (const std::string leaf : {"weight", "bias"})
    p = tied(std::move(p), "encoder.embed_patches.proj." + leaf, "patch_embed.proj." + leaf);
  if (whole) p = tied(std::move(p), "decoder.embed_tokens.weight", "shared.weight");
  if (writes || !whole) p = tied(std::move(p), direction("encoder"), first);
  if (!writes) return p;
  p = tied(std::move(p), direction("decoder"), first);
  return tied(std::move(p), "lm_head.weight", "shared.weight");
}

}  // namespace headroom::model::families::t5
