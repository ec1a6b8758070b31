// Florence-2 (arXiv:2311.06242): DaViT's tower (arXiv:2204.03645) and BART. The tower alternates
// attention over windows and over channels.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::florence2 {

const std::string k = "Florence2";

/// One number for each of the tower's stages.
Size of_stage(const Config& v, std::string_view key, std::size_t stage) {
  const auto all = v.dims({key});
  if (stage >= all.size()) v.fail(key, "expected one number for each of the depths");
  return all[stage];
}

/// A block of a stage: convolution, attention, convolution, feed-forward.
Part half(std::string_view name, std::string_view kind, std::string_view attention, Size width,
          Size inner, Bias qkv, const std::string& act, std::string_view drop) {
  const auto depthwise = [&](std::string_view conv) {
    return convolution(conv, "Conv2d", {width, 1, 3, 3}, Bias::yes);
  };
  return in(
      name, k + "Vision" + std::string(kind) + "Block",
      depthwise("conv1") + layer_norm("norm1", width) +
          in(attention, k + "Vision" + (kind == "Spatial" ? "Window" : "Channel") + "Attention",
             linear("qkv", width, 3 * width, qkv) + linear("proj", width, width, Bias::yes)) +
          module("drop_path1", drop) + depthwise("conv2") + layer_norm("norm2", width) +
          in("ffn", k + "VisionMLP",
             module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                 linear("fc2", inner, width, Bias::yes)) +
          module("drop_path2", drop));
}

Part tower(const Config& v) {
  const auto depths = v.dims({"depths"});
  const double ratio = v.number({"mlp_ratio"}, 4.0), dropped = v.number({"drop_path_rate"}, 0.1);
  const Bias qkv = v.bias({"qkv_bias"}, true);
  const std::string act = activation_class(v, {"activation_function"}, "gelu");
  Part convs, stages;
  Size before = v.dim({"in_channels"}, 3);
  bool first = true;  // the drop rate rises from 0, so the first block drops none
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    const Size width = of_stage(v, "embed_dim", stage), patch = of_stage(v, "patch_size", stage);
    const Size inner = whole_width(v, "mlp_ratio", static_cast<double>(width) * ratio);
    const auto* prenorm = v.object().if_contains("patch_prenorm");
    const bool early =
        prenorm && prenorm->is_array() && stage < prenorm->get_array().size()
            ? prenorm->get_array()[stage].is_bool() && prenorm->get_array()[stage].get_bool()
            : stage > 0;
    convs = std::move(convs) +
            in(std::to_string(stage), k + "VisionConvEmbed",
               convolution("conv", "Conv2d", {width, before, patch, patch}, Bias::yes) +
                   layer_norm("norm", early ? before : width));
    if (depths[stage] > most_layers) v.fail("depths", "more layers than are supported");
    Part blocks;
    for (Size i = 0; i < depths[stage]; ++i) {
      const auto drop = [&] {
        const bool none = first || dropped == 0.0;
        first = false;
        return none ? "Identity" : "Florence2DropPath";
      };
      Part spatial =
          half("spatial_block", "Spatial", "window_attn", width, inner, qkv, act, drop());
      Part channel =
          half("channel_block", "Channel", "channel_attn", width, inner, qkv, act, drop());
      blocks = std::move(blocks) +
               in(std::to_string(i), k + "VisionBlock", std::move(spatial) + std::move(channel));
    }
    stages = std::move(stages) + in(std::to_string(stage), "ModuleList", std::move(blocks));
    before = width;
  }
  return in("convs", "ModuleList", std::move(convs)) +
         in("blocks", "ModuleList", std::move(stages));
}

/// Source: transformers 5.23, models/florence2/modeling_florence2.py.
Part florence2(const Config& c) {
  const Config text = section_of(c, "text_config", "bart").as_class("BartModel");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "florence_vision");
  const Size projected = v.dim({"projection_dim"}, 1024);
  const auto widths = v.dims({"embed_dim"});
  if (widths.empty()) v.fail("embed_dim", "expected one number for each of the depths");
  const Size width = widths.back(), positions = v.dim({"max_position_embeddings"}, 50);
  Part body = in(
      "model", k + "Model",
      in("vision_tower", k + "VisionBackbone", tower(v)) +
          in("multi_modal_projector", k + "MultiModalProjector",
             linear("image_projection", width, projected) +
                 layer_norm("image_proj_norm", projected) +
                 in("image_position_embed", k + "VisionLearnedAbsolutePositionEmbedding2D",
                    embedding("row_embeddings", positions, width / 2) +
                        embedding("column_embeddings", positions, width - width / 2)) +
                 in("visual_temporal_embed", k + "VisionPositionalEmbeddingCosine1D",
                    buffer("pos_idx_to_embed", {v.dim({"max_temporal_embeddings"}, 100), width},
                           Element::floating, true))) +
          in("language_model", "BartModel", owners_at(bart::bart(text), "model.language_model")));
  body = std::move(body) + output_head("lm_head", text.dim({"d_model"}), text.dim({"vocab_size"}));
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  return tied(std::move(body), "lm_head.weight", "model.language_model.shared.weight");
}

}  // namespace headroom::model::families::florence2
