// Idefics 2 (arXiv:2405.02246): a SigLIP-like tower and a perceiver that resamples its output to 64
// tokens.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::idefics2 {

Part gated(std::string_view name, Size in_dim, Size inner, Size out, const std::string& act) {
  return in(name, "Idefics2MLP",
            linear("gate_proj", in_dim, inner) + linear("up_proj", in_dim, inner) +
                linear("down_proj", inner, out) + module("act_fn", act));
}

/// Source: transformers 5.23, models/idefics2/modeling_idefics2.py. The perceiver has the text
/// model's width, and the width in its section is ignored.
Part idefics2(const Config& c) {
  const Config text = section_of(c, "text_config", "mistral");
  const Config perceiver =
      with_class_defaults(c.section_or_empty("perceiver_config"), "idefics2_perceiver");
  const Submodel vision = idefics_vision(
      with_class_defaults(c.section_or_empty("vision_config"), "idefics2_vision"), "Idefics2");
  const Submodel language = text_model(text);
  const Size width = language.width;
  const Size query =
      times({perceiver.dim({"resampler_n_heads"}, 16), perceiver.dim({"resampler_head_dim"}, 96)});
  const Size kv =
      times({perceiver.dim({"num_key_value_heads"}, 4), perceiver.dim({"resampler_head_dim"}, 96)});
  const std::string act = activation_class(perceiver, {"hidden_act"}, "silu");
  const auto norm = [&](std::string_view name) { return rms_norm(name, "Idefics2RMSNorm", width); };
  const Part resampler =
      tensor("latents", {perceiver.dim({"resampler_n_latents"}, 64), width}, Role::other) +
      stack("layers", "Idefics2PerceiverLayer", perceiver.dim({"resampler_depth"}, 3),
            [&] {
              return norm("input_latents_norm") + norm("input_context_norm") +
                     in("self_attn", "Idefics2PerceiverAttention",
                        linear("q_proj", width, query) + linear("k_proj", width, kv) +
                            linear("v_proj", width, kv) + linear("o_proj", query, width)) +
                     norm("post_attention_layernorm") + gated("mlp", width, 4 * width, width, act);
            }) +
      norm("norm");
  Part body = in("model", "Idefics2Model",
                 vision.as("vision_model") +
                     in("connector", "Idefics2Connector",
                        gated("modality_projection", vision.width, text.dim({"intermediate_size"}),
                              width, activation_class(text, {"hidden_act"}, "silu")) +
                            in("perceiver_resampler", "Idefics2PerceiverResampler", resampler)) +
                     language.as("text_model"));
  return with_language_head(
      with_unsplittable(std::move(body),
                        {"Idefics2VisionAttention", "Idefics2MLP", "Idefics2PerceiverLayer"}),
      text, head_is_tied(c, text, false, Inherit::no), "model.text_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::idefics2
