// Qwen's vision-language models: a vision transformer over 3-D patches whose output is merged 2 x 2
// into the width of a Qwen text model.
#include "model/architectures/composition.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

/// Patches of `temporal_patch_size` frames.
Part patch_embed(const Config& v, std::string_view class_name, Size width, Bias bias) {
  const Size patch = v.dim({"patch_size"});
  return in("patch_embed", class_name,
            convolution(
                "proj", "Conv3d",
                {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch, patch},
                bias));
}

Part fused_attention(std::string_view class_name, Size width) {
  return in("attn", class_name,
            linear("qkv", width, 3 * width, Bias::yes) + linear("proj", width, width, Bias::yes));
}

/// Rotates half of each head in each of two directions.
Size frequency_count(const Config& v, Size width) { return width / v.dim({"num_heads"}) / 4; }

Size merged(const Config& v, Size width) {
  const Size side = v.dim({"spatial_merge_size"}, 2);
  return width * side * side;
}

/// The merger of the second generation: norm, then a two-layer network in a Sequential.
Part merger2(std::string_view class_name, Part norm, Size wide, Size out) {
  return in("merger", class_name,
            std::move(norm) + in("mlp", "Sequential",
                                 linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                     linear("2", wide, out, Bias::yes)));
}

/// The text model of the second generation is Qwen2's under other class names.
Part generation2(const Config& c, std::string_view prefix, std::string_view vision_class,
                 Part visual) {
  const std::string name(prefix);
  const std::string type = prefix == "Qwen2VL" ? "qwen2_vl_text" : "qwen2_5_vl_text";
  const Config text = section_or_self(c, "text_config", type);
  Submodel language = text_model(text, "qwen2");
  language.part = renamed(std::move(language.part), "Qwen2", prefix, {"Qwen2MLP"});
  language.class_name = name + "TextModel";
  Part body = in("model", name + "Model",
                 in("visual", vision_class, std::move(visual)) + language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {name + "VisionBlock"}), text,
                            head_is_tied(c, text, false, Inherit::yes),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace

/// Source: transformers 5.23, models/qwen2_vl/modeling_qwen2_vl.py.
Part qwen2_vl(const Config& c) {
  const Config v = section_of(c, "vision_config", "qwen2_vl_vision");
  const Size width = v.dim({"embed_dim"}), inner = width * v.dim({"mlp_ratio"});
  const std::string act = activation_class(v, {"hidden_act"}, "quick_gelu");
  return generation2(
      c, "Qwen2VL", "Qwen2VisionTransformerPretrainedModel",
      patch_embed(v, "PatchEmbed", width, Bias::no) +
          frequencies("rotary_pos_emb", "Qwen2VLVisionRotaryEmbedding", frequency_count(v, width)) +
          stack("blocks", "Qwen2VLVisionBlock", v.dim({"depth"}),
                [&](Size) {
                  return layer_norm("norm1", width) + layer_norm("norm2", width) +
                         fused_attention("VisionAttention", width) +
                         in("mlp", "VisionMlp",
                            linear("fc1", width, inner, Bias::yes) + module("act", act) +
                                linear("fc2", inner, width, Bias::yes));
                }) +
          merger2("PatchMerger", layer_norm("ln_q", width), merged(v, width),
                  v.dim({"hidden_size"})));
}

Part qwen2_5_vision(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const std::string_view norm = "Qwen2_5_VLRMSNorm";
  return patch_embed(v, "Qwen2_5_VisionPatchEmbed", width, Bias::no) +
         frequencies("rotary_pos_emb", "Qwen2_5_VLVisionRotaryEmbedding",
                     frequency_count(v, width)) +
         stack("blocks", "Qwen2_5_VLVisionBlock", v.dim({"depth"}),
               [&](Size) {
                 return rms_norm("norm1", norm, width) + rms_norm("norm2", norm, width) +
                        fused_attention("Qwen2_5_VLVisionAttention", width) +
                        in("mlp", "Qwen2_5_VLMLP", gated_mlp(width, inner, act, Bias::yes));
               }) +
         merger2("Qwen2_5_VLPatchMerger", rms_norm("ln_q", norm, width), merged(v, width),
                 v.dim({"out_hidden_size"}));
}

/// Source: transformers 5.23, models/qwen2_5_vl/modeling_qwen2_5_vl.py.
Part qwen2_5_vl(const Config& c) {
  return generation2(c, "Qwen2_5_VL", "Qwen2_5_VisionTransformerPretrainedModel",
                     qwen2_5_vision(section_of(c, "vision_config", "qwen2_5_vl_vision")));
}

/// Learned positions and, where the config asks for them, mergers of earlier layers' outputs.
Part qwen3_vision(const Config& v, std::string_view prefix) {
  const std::string name(prefix);
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size wide = merged(v, width), out = v.dim({"out_hidden_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  const auto merger = [&](Size normed) {
    return layer_norm("norm", normed) + linear("linear_fc1", wide, wide, Bias::yes) +
           module("act_fn", "GELU") + linear("linear_fc2", wide, out, Bias::yes);
  };
  Part p =
      patch_embed(v, name + "VisionPatchEmbed", width, Bias::yes) +
      embedding("pos_embed", v.dim({"num_position_embeddings"}), width) +
      frequencies("rotary_pos_emb", name + "VisionRotaryEmbedding", frequency_count(v, width)) +
      stack("blocks", name + "VisionBlock", v.dim({"depth"}),
            [&](Size) {
              return layer_norm("norm1", width) + layer_norm("norm2", width) +
                     fused_attention(name + "VisionAttention", width) +
                     in("mlp", name + "VisionMLP",
                        linear("linear_fc1", width, inner, Bias::yes) +
                            linear("linear_fc2", inner, width, Bias::yes) + module("act_fn", act));
            }) +
      in("merger", name + "VisionPatchMerger", merger(width));
  const auto deep = static_cast<Size>(v.dims({"deepstack_visual_indexes"}).size());
  if (!name.starts_with("Qwen3VL")) return p;
  Part list;
  for (Size i = 0; i < deep; ++i)
    list = std::move(list) + in(std::to_string(i), name + "VisionPatchMerger", merger(wide));
  return std::move(p) + in("deepstack_merger_list", "ModuleList", std::move(list));
}

/// Qwen3-VL and Qwen3.5, dense and mixtures. Source: transformers 5.23, models/qwen3_vl,
/// models/qwen3_vl_moe, models/qwen3_5 and models/qwen3_5_moe.
Part qwen3_vl(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const bool mixture = name.ends_with("Moe"), third = name.starts_with("Qwen3VL");
  const std::string type = std::string(third ? "qwen3_vl" : "qwen3_5") + (mixture ? "_moe" : "");
  const Config text = section_of(c, "text_config", type + "_text");
  const Config v = section_of(c, "vision_config", type + "_vision");
  Submodel language = text_model(text, third ? (mixture ? "qwen3_moe" : "qwen3") : type + "_text");
  if (third) {
    language.part =
        renamed(std::move(language.part), mixture ? "Qwen3Moe" : "Qwen3", name + "Text");
    language.class_name = name + "TextModel";
  }
  Part body =
      in("model", name + "Model",
         in("visual", name + "VisionModel", qwen3_vision(v, name)) + language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {name + "VisionBlock"}), text,
                            head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families
