// Nemotron 3 Nano Omni: Nemotron-H with C-RADIO's tower. Audio models add Parakeet's encoder.
#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::nemotron_omni {

/// Source: transformers 5.23, models/radio/modeling_radio.py, without its preprocessor.
Part radio(const Config& v) {
  const Size width = v.dim({"hidden_size"}), patch = v.dim({"patch_size"}, 16);
  const Size pixels = times({v.dim({"num_channels"}, 3), patch, patch});
  const Size side = v.dim({"max_img_size"}, 2048) / patch;
  Size inner =
      whole_width(v, "mlp_ratio", static_cast<double>(width) * v.number({"mlp_ratio"}, 4.0));
  const bool gated = v.flag({"use_swiglu_ffn"}, false);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  Part mlp;
  if (gated) {
    inner = (inner * 2 / 3 + 7) / 8 * 8;
    mlp = in("mlp", "RadioSwiGLUFFN", gated_mlp(width, inner, "SiLUActivation", Bias::yes));
  } else {
    mlp = in("mlp", "RadioMLP",
             module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                 linear("fc2", inner, width, Bias::yes));
  }
  const Bias bias = v.bias({"qkv_bias"}, true);
  const auto scale = [&](std::string_view name) {
    return in(name, "RadioLayerScale", tensor("lambda1", {width}, Role::other));
  };
  const Part layer =
      layer_norm("norm1", width) +
      in("attention", "RadioAttention",
         linear("q_proj", width, width, bias) + linear("k_proj", width, width, bias) +
             linear("v_proj", width, width, bias) + linear("o_proj", width, width, Bias::yes)) +
      scale("layer_scale1") +
      module("drop_path", v.number({"drop_path_rate"}, 0.0) > 0 ? "RadioDropPath" : "Identity") +
      layer_norm("norm2", width) + mlp + scale("layer_scale2");
  Part patches =
      tensor("position_embedding", {1, side * side, width}, Role::embedding) +
      tensor("cls_register_token",
             {v.count({"num_cls_tokens"}, 3) + v.count({"num_registers"}, 7), width}, Role::other) +
      linear("patch_projection", pixels, width);
  if (v.has("video_temporal_patch_size"))
    patches = std::move(patches) + linear("video_patch_projection",
                                          v.dim({"video_temporal_patch_size"}) * pixels, width);
  const auto summaries =
      v.has("summary_idxs") ? static_cast<Size>(v.dims({"summary_idxs"}).size()) : 2;
  return module("input_conditioner", "Identity") +
         in("embeddings", "RadioPatchEmbeddings", std::move(patches)) +
         in("encoder", "RadioEncoder",
            stack("layer", "RadioLayer", v.dim({"num_hidden_layers"}), [&] { return layer; })) +
         buffer("summary_idxs", {summaries}, Element::int64, true);
}

/// Source: transformers 5.23, models/nemotron_h_omni/modeling_nemotron_h_omni.py.
Part nemotron_omni(const Config& c) {
  const std::string k = "NemotronH_Omni_Reasoning_V3";
  const Config text =
      section_of(c, c.has("text_config") ? "text_config" : "llm_config", "nemotron_h");
  const Config v = section_of(c, "vision_config", "radio");
  const double ratio = c.number({"downsample_ratio"}, 0.5);
  if (!(ratio > 0.0 && ratio <= 1.0)) c.fail("downsample_ratio", "expected a number in (0, 1]");
  const Size side = static_cast<Size>(1.0 / ratio), inner = c.dim({"projector_hidden_size"}, 4096);
  const Size seen = c.dim({"vit_hidden_size", "vision_hidden_size"}, 1280);
  const Size wide = times({seen, side, side});
  Part p = whole_model(text, "language_model") + in("vision_model", "RadioModel", radio(v));
  if (text.count({"num_nextn_predict_layers"}, 0) > 0)
    p = std::move(p) + layer_norm("vision_final_layernorm", seen);
  const auto projector = [&](std::string_view name, Size from, Size through, Bias bias) {
    return in(name, k + "MultiModalProjector",
              rms_norm("layer_norm", "NemotronH_Omni_RMSNorm", from) +
                  linear("linear_1", from, through, bias) + module("act", "ReLUSquaredActivation") +
                  linear("linear_2", through, text.dim({"hidden_size"}), bias));
  };
  p = std::move(p) + projector("multi_modal_projector", wide, inner, Bias::no);
  const std::string_view heard = c.has("audio_config") ? "audio_config" : "sound_config";
  if (c.has(heard)) {
    const Config a = with_class_defaults(
        c.section(heard).with_defaults({{"attention_bias", false}}), "parakeet_encoder");
    const Submodel ears = parakeet_encoder(a);
    p = std::move(p) + ears.as("audio_tower") +
        projector("embed_audio", ears.width, a.dim({"projection_hidden_size"}),
                  a.bias({"projection_bias"}, false));
  }
  return with_unsplittable(std::move(p), {"RadioLayer"});
}

}  // namespace headroom::model::families::nemotron_omni
