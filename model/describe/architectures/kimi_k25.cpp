// Kimi K2.5 (arXiv:2602.02276): MoonViT with positions in space and time, and DeepSeek-V3's
// decoder.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::kimi_k25 {

/// Sources: transformers 5.23, models/kimi_k25/modeling_kimi_k25.py; vLLM 0.33 kimi_k25_vit.py for
/// the keys of the checkpoint's own code (vt_*). Its q, k and v are one matrix with equally many
/// elements.
Part kimi_k25(const Config& c) {
  const std::string k = "Kimi_K25";
  const Config text = section_of(c, "text_config", "deepseek_v3");
  const Config v = section_of(c, "vision_config", "kimi_k25_vision");
  const Submodel language = text_model(text, "deepseek_v3");
  const Size width = v.dim({"hidden_size", "vt_hidden_size"}),
             inner = v.dim({"intermediate_size", "vt_intermediate_size"});
  const auto [patch, other] = pair_of(v, "patch_size", 14);
  const auto [rows, columns] = pair_of(v, "merge_kernel_size", 2);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu_pytorch_tanh");
  const Part layer =
      layer_norm("norm1", width) + layer_norm("norm2", width) +
      in("attn", k + "VisionAttention",
         linear("proj", width, width, Bias::yes) + linear("q_proj", width, width, Bias::yes) +
             linear("k_proj", width, width, Bias::yes) +
             linear("v_proj", width, width, Bias::yes)) +
      in("mlp", k + "VisionMLP",
         linear("fc1", width, inner, Bias::yes) + module("act", act) +
             linear("fc2", inner, width, Bias::yes));
  const Part tower =
      in("patch_embed", k + "VisionPatchEmbed",
         convolution("proj", "Conv2d", {width, 3, patch, other}, Bias::yes) +
             in("pos_emb", k + "VisionPositionEmbeddings",
                tensor("position_embeddings",
                       {v.dim({"pos_emb_height", "init_pos_emb_height"}, 64),
                        v.dim({"pos_emb_width", "init_pos_emb_width"}, 64), width},
                       Role::embedding) +
                    buffer("time_position_embeddings",
                           {v.dim({"pos_emb_time", "init_pos_emb_time"}, 4) + 1, width}))) +
      frequencies("rotary_emb", k + "VisionRotaryEmbedding",
                  width / v.dim({"num_attention_heads", "vt_num_attention_heads"}) / 4) +
      stack("layers", k + "VisionEncoderLayer",
            v.dim({"num_hidden_layers", "vt_num_hidden_layers"}), [&] { return layer; }) +
      layer_norm("final_layernorm", width);
  const Size wide = times({width, rows, columns});
  Part body = in("model", k + "Model",
                 in("vision_tower", k + "VisionModel", tower) + language.as("language_model") +
                     in("mm_projector", k + "MultimodalProjection",
                        layer_norm("pre_norm", c.dim({"projection_hidden_size"},
                                                     v.dim({"mm_hidden_size"}, 1152))) +
                            linear("in_proj", wide, wide, Bias::yes) + module("act", "GELU") +
                            linear("out_proj", wide, language.width, Bias::yes)));
  return with_language_head(with_unsplittable(std::move(body), {k + "VisionEncoderLayer"}), text,
                            head_is_tied(c, text, true, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::kimi_k25
