// DeepSeek-OCR-2: SAM's tower, a small decoder without embeddings, and a small mixture of experts.
// The decoder reads the tower's output with learned queries.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/deepseek_ocr.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families {

namespace {

const std::string k = "DeepseekOcr2";

Part text_body(const Config& c) {
  const Classes t{"DeepseekOcr2Text"};
  Common s = common_of(c);
  s.heads.dim = s.hidden / s.heads.query;  // the config's value is ignored
  const Bias bias = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const auto types = c.texts({"mlp_layer_types"});
  if (types.empty())
    c.fail("mlp_layer_types", "is missing: \"dense\" or \"sparse\" for each layer");
  const Part mixture = ocr_mixture(c, t, s, mlp);
  return trunk(c, t, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return decoder_layer(
        t, s.hidden, attention(s.hidden, s.heads, bias, bias),
        layer_type(c, types, i, "mlp_layer_types") == "sparse" ? mixture : dense_mlp(c, t, mlp));
  });
}

/// Qwen2's layers. They read an image once, so they need no KV cache.
Part reader(const Config& c) {
  const Classes v{"DeepseekOcr2Vision"};
  const Common s = common_of(c);
  Part attn = attention(s.hidden, s.heads, Bias::yes);
  attn.caches.clear();
  return stack("layers", v("EncoderLayer"), s.layers,
               [&] {
                 return in("self_attn", v("Attention"), attn) +
                        in("mlp", v("MLP"), gated_mlp(s.hidden, s.inner, s.act)) +
                        rms_norm("input_layernorm", v("RMSNorm"), s.hidden) +
                        rms_norm("post_attention_layernorm", v("RMSNorm"), s.hidden);
               }) +
         rms_norm("norm", v("RMSNorm"), s.hidden) +
         rotary(v("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim));
}

}  // namespace

Part ocr_mixture(const Config& c, Classes t, const Common& s, Bias mlp_bias) {
  const Routing r = routing_of(c, {"n_routed_experts"});
  const Size inner = c.dim({"moe_intermediate_size"});
  return in("mlp", t("Moe"),
            fused_experts(t("Experts"), s.hidden, inner, r, s.act) +
                router("gate", t("TopkRouter"), s.hidden, r.experts) +
                in("shared_experts", t("MLP"),
                   gated_mlp(s.hidden, inner * c.count({"n_shared_experts"}, 2), s.act, mlp_bias)));
}

namespace deepseek_ocr2 {

/// Source: transformers 5.23, models/deepseek_ocr2/{configuration,modeling}_deepseek_ocr2.py. An
/// image becomes 144 or 256 tokens.
Part deepseek_ocr2(const Config& c) {
  const Config text = section_of(c, "text_config", "deepseek_ocr2_text");
  const Config v = section_of(c, "vision_config", "deepseek_ocr2_vision");
  const Config given = section_of(v, "sam_config", "deepseek_ocr2_sam_vision_model");
  const Config encoder = section_of(v, "encoder_config", "deepseek_ocr2_encoder");
  const Size wide = whole_width(
      given, "mlp_ratio",
      given.number({"mlp_ratio"}, 4.0) * static_cast<double>(given.dim({"hidden_size"})));
  const Config eyes = given.with_defaults({{"mlp_dim", wide}});
  const Submodel sam =
      sam_vision(eyes, {k + "Sam", k + "SamVisionEncoder", k + "SamVisionLayer",
                        k + "SamVisionAttention", k + "SamPatchEmbeddings", k + "SamVisionNeck"});
  auto channels = eyes.dims({"downsample_channels"});
  if (channels.empty()) channels = {512, 896};
  if (channels.size() != 2) eyes.fail("downsample_channels", "expected two numbers");
  const Size read = encoder.dim({"hidden_size"}), width = text.dim({"hidden_size"});
  Part body =
      in("model", k + "Model",
         tensor("view_separator", {width}, Role::other) +
             in("vision_tower", k + "VisionModel",
                in("sam_encoder", sam.class_name,
                   sam.part +
                       in("proj", k + "SamVisionProj",
                          convolution("conv1", "Conv2d", {channels[0], sam.width, 3, 3}) +
                              convolution("conv2", "Conv2d", {channels[1], channels[0], 3, 3}))) +
                    in("vision_encoder", k + "VisionEncoder", reader(encoder)) +
                    embedding("query_768_resolution", 144, read) +
                    embedding("query_1024_resolution", 256, read)) +
             linear("multi_modal_projector", read, width, Bias::yes) +
             in("language_model", k + "TextModel", text_body(text)));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "VisionEncoderLayer", k + "SamVisionLayer"}), text,
      head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace deepseek_ocr2

}  // namespace headroom::model::families
