// Pixtral (arXiv:2410.07073) in the form that vLLM makes of Mistral's params.json, and its tower
// alone.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::pixtral {

/// Names follow Mistral's checkpoints: `wq`, `w1` and so on.
Part native_tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"});
  const auto layer = [&] {
    return in("attention", "PixtralAttention",
              linear("wq", width, width) + linear("wk", width, width) + linear("wv", width, width) +
                  linear("wo", width, width)) +
           in("feed_forward", "PixtralMLP",
              linear("w1", width, inner) + linear("w2", inner, width) + linear("w3", width, inner) +
                  module("act", "SiLUActivation")) +
           rms_norm("attention_norm", "RMSNorm", width) + rms_norm("ffn_norm", "RMSNorm", width);
  };
  return convolution("patch_conv", "Conv2d", {width, v.dim({"num_channels"}, 3), patch, patch}) +
         rms_norm("ln_pre", "RMSNorm", width) +
         in("transformer", "PixtralTransformer",
            stack("layers", "PixtralTransformerBlock", v.dim({"num_hidden_layers"}), layer));
}

/// Source: vLLM 0.33 pixtral.py and transformers_utils/configs/mistral.py.
Part pixtral(const Config& c) {
  const Config section = c.section("text_config");
  const bool native = section.text({"model_type"}, "transformer") == "transformer";
  const std::string type = native ? "mistral" : section.model_type();
  const Config text = with_class_defaults(section, type);
  const Config v = c.section("vision_config");
  const Submodel language = text_model(text, type);
  const Size width = v.dim({"hidden_size"}), merge = v.dim({"spatial_merge_size"}, 1);
  const Bias bias = v.bias({"adapter_bias"}, true);
  Part p = in("model", language.class_name, language.part) +
           in("vision_encoder", "VisionTransformer", native_tower(v));
  if (v.flag({"add_pre_mm_projector_layer_norm"}, false))
    p = std::move(p) + rms_norm("pre_mm_projector_norm", "RMSNorm", width);
  if (v.text({"mm_projector_id"}, "") == "patch_merge")
    p = std::move(p) + in("patch_merger", "PatchMerger",
                          linear("merging_layer", times({width, merge, merge}), width));
  p = std::move(p) + in("vision_language_adapter", "VisionLanguageAdapter",
                        linear("w_in", width, language.width, bias) + module("gelu", "GELU") +
                            linear("w_out", language.width, language.width, bias));
  return with_language_head(with_unsplittable(std::move(p), {"PixtralTransformerBlock"}), text,
                            head_is_tied(text, text, false, Inherit::no),
                            "model.embed_tokens.weight");
}

/// The tower of transformers alone.
Part tower(const Config& c) { return pixtral_vision(with_class_defaults(c, "pixtral")).part; }

}  // namespace headroom::model::families::pixtral
