// The thinkers of Qwen2.5-Omni (arXiv:2503.20215) and Qwen3-Omni (arXiv:2509.17765). They read
// text, images and audio. The voices are in qwen_omni_voice.cpp and qwen3_omni_voice.cpp.
#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::qwen_omni {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

/// The mixture registers its experts before its router.
Part omni3_text(const Config& c) {
  const Classes k{"Qwen3OmniMoeThinkerText"};
  const Size hidden = c.dim({"hidden_size"}), query = c.dim({"num_attention_heads"});
  const Heads heads{query, c.dim({"num_key_value_heads"}), c.dim({"head_dim"}, hidden / query)};
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = routing_of(c, {"num_experts"});
  const Part mixture = fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                     activation_class(c, {"hidden_act"}, "silu")) +
                       router("gate", k("TopKRouter"), hidden, r.experts);
  return trunk(c,
               Trunk{"Qwen3OmniMoeThinkerText", rms_norm("norm", "Qwen3OmniMoeTextRMSNorm", hidden),
                     rotary(k("RotaryEmbedding"), heads.dim)},
               [&](Size i) {
                 return decoder_layer(
                     k, hidden,
                     attention(hidden, heads, bias, bias) + head_norms(k("RMSNorm"), heads.dim),
                     qwen_feed_forward(c, k, i, mixture));
               });
}

Part omni3_vision(const Config& v) {
  const Classes k{"Qwen3OmniMoeVision"};
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size side = v.dim({"spatial_merge_size"}, 2), wide = times({width, side, side});
  const Size patch = v.dim({"patch_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  const auto merger = [&](Size normed) {
    return layer_norm("ln_q", normed) +
           in("mlp", "ModuleList",
              linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                  linear("2", wide, v.dim({"out_hidden_size"}), Bias::yes));
  };
  Part list;
  const auto deep = static_cast<Size>(v.dims({"deepstack_visual_indexes"}).size());
  for (Size i = 0; i < deep; ++i)
    list = std::move(list) + in(std::to_string(i), k("PatchMerger"), merger(wide));
  return in("merger_list", "ModuleList", std::move(list)) +
         in("patch_embed", k("PatchEmbed"),
            convolution(
                "proj", "Conv3d",
                {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch, patch},
                Bias::yes)) +
         embedding("pos_embed", v.dim({"num_position_embeddings"}), width) +
         frequencies("rotary_pos_emb", k("RotaryEmbedding"), width / v.dim({"num_heads"}) / 4) +
         stack("blocks", k("Block"), v.dim({"depth"}),
               [&] {
                 return layer_norm("norm1", width) + layer_norm("norm2", width) +
                        in("attn", k("Attention"),
                           linear("qkv", width, 3 * width, Bias::yes) +
                               linear("proj", width, width, Bias::yes)) +
                        in("mlp", k("MLP"),
                           linear("linear_fc1", width, inner, Bias::yes) +
                               linear("linear_fc2", inner, width, Bias::yes) +
                               module("act_fn", act));
               }) +
         in("merger", k("PatchMerger"), merger(width));
}

/// Source: transformers 5.23, models/qwen2_5_omni/modeling_qwen2_5_omni.py.
Part qwen2_5_omni_thinker(const Config& c) {
  const std::string k = "Qwen2_5Omni";
  const Config text = section_of(c, "text_config", "qwen2_5_omni_text");
  const Config a = section_of(c, "audio_config", "qwen2_5_omni_audio_encoder");
  const Submodel visual =
      qwen2_5_vision(section_of(c, "vision_config", "qwen2_5_omni_vision_encoder"));
  Submodel language = text_model(text, "qwen2");
  language.part = renamed(std::move(language.part), "Qwen2", k, {"Qwen2MLP"});
  const Size width = a.dim({"d_model"}), out = a.dim({"output_dim"}, 3584);
  const Part audio =
      convolution("conv1", "Conv1d", {width, a.dim({"num_mel_bins"}, 128), 3}, Bias::yes) +
      convolution("conv2", "Conv1d", {width, width, 3}, Bias::yes) +
      sine_table(a.dim({"max_source_positions"}, 1500), width) +
      embedding("audio_bos_eos_token", 2, out) + whisper_layers(a, k + "Audio", Bias::no) +
      layer_norm("ln_post", width) + module("avg_pooler", "AvgPool1d") +
      linear("proj", width, out, Bias::yes);
  Part body = in("model", k + "ThinkerModel",
                 in("audio_tower", k + "AudioEncoder", audio) + visual.as("visual") +
                     in("language_model", k + "ThinkerTextModel", language.part));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "AudioEncoder", k + "AudioEncoderLayer",
                                          k + "VisionEncoder", k + "VisionBlock"}),
      text, head_is_tied(c, text, false, Inherit::no), embedding_weight);
}

/// Source: transformers 5.23, models/qwen3_omni_moe/modeling_qwen3_omni_moe.py.
Part qwen3_omni_thinker(const Config& c) {
  const std::string k = "Qwen3OmniMoe";
  const Config text = section_of(c, "text_config", "qwen3_omni_moe_text");
  const Config v = section_of(c, "vision_config", "qwen3_omni_moe_vision_encoder");
  const Config a = section_of(c, "audio_config", "qwen3_omni_moe_audio_encoder");
  const Size width = a.dim({"d_model"});
  const Part audio = sine_table(a.dim({"max_source_positions"}, 1500), width) +
                     whisper_layers(a, k + "Audio", Bias::yes) + layer_norm("ln_post", width) +
                     strided_convolutions(a) + linear("proj1", width, width, Bias::yes) +
                     module("act", activation_class(a, {"activation_function"}, "gelu")) +
                     linear("proj2", width, a.dim({"output_dim"}, 3584), Bias::yes);
  Part body = in("model", k + "ThinkerModel",
                 in("audio_tower", k + "AudioEncoder", audio) +
                     in("visual", k + "VisionEncoder", omni3_vision(v)) +
                     in("language_model", k + "ThinkerTextModel", omni3_text(text)));
  return with_language_head(
      with_unsplittable(
          std::move(body),
          {k + "AudioEncoder", k + "AudioEncoderLayer", k + "VisionEncoder", k + "VisionBlock",
           k + "TalkerDecoderLayer", k + "TalkerCodePredictorModelForConditionalGeneration"}),
      text, head_is_tied(c, text, false, Inherit::no), embedding_weight);
}

}  // namespace headroom::model::families::qwen_omni
