// Granite Docling 2: Idefics' tower, a connector and Granite. The connector shuffles pixels on a
// coarse and a fine path.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::granite_docling {

const std::string k = "GraniteDocling";

/// One path: `scale` x `scale` patches become one token.
Part path(const Config& v, Size scale) {
  const Size wide = times({v.dim({"hidden_size"}), scale, scale}), out = v.dim({"out_hidden_size"});
  const Size side = v.dim({"image_size"}) / v.dim({"patch_size"}) / scale;
  Part mergers{.modules = {{"deepstack_mergers", "ModuleList"}}};
  const std::size_t deep =
      v.has("deepstack_visual_indexes") ? v.dims({"deepstack_visual_indexes"}).size() : 3;
  for (std::size_t i = 0; i < deep; ++i)
    mergers = std::move(mergers) +
              at("deepstack_mergers",
                 in(std::to_string(i), k + "DeepStackMerger",
                    layer_norm("layer_norm", wide) + linear("linear_1", wide, out, Bias::yes) +
                        module("act", "GELUActivation") + linear("linear_2", out, out, Bias::yes)));
  return linear("projection", wide, out) +
         in("pos_embed", k + "PositionEmbedding", buffer("pos_embed", {side * side, out})) +
         std::move(mergers);
}

Part connector(const Config& v) {
  const Size out = v.dim({"out_hidden_size"}), scale = v.dim({"scale_factor"}, 4);
  Part p = layer_norm("ln_in", v.dim({"hidden_size"})) +
           in("coarse", k + "ConnectorPath", path(v, scale));
  if (v.flag({"use_fine_route"}, true)) {
    if (scale < 2) v.fail("scale_factor", "found 1, expected at least 2 for the fine route");
    p = std::move(p) + in("fine", k + "ConnectorPath", path(v, scale / 2));
  }
  return std::move(p) + layer_norm("ln_mid", out) + linear("mlp_fc2", out, out) +
         layer_norm("ln_out", out);
}

/// Decides which images need the fine path.
Part router(const Config& c, Size width) {
  const Size hidden = c.dim({"density_router_hidden_size"});
  return in("density_router", k + "DensityRouter",
            linear("att", width, 1, Bias::yes) + layer_norm("norm", width) +
                linear("fc1", width, hidden, Bias::yes) + module("act", "GELU") +
                linear("fc2", hidden, 1, Bias::yes));
}

/// Source: transformers 5.23, models/granite_docling.
Part granite_docling(const Config& c) {
  const Config text = section_of(c, "text_config", "granite_docling_text");
  const Config v = section_of(c, "vision_config", "granite_docling_vision");
  Submodel language = text_model(text, "granite");
  language.part = renamed(std::move(language.part), "Granite", k + "Text");
  const Submodel vision = idefics_vision(v, k);
  Part body = in("model", k + "Model",
                 in("vision_model", k + "VisionModel",
                    unsplittable(vision.part + at("embeddings", position_ids(patches(v))) +
                                     in("connector", k + "Connector", connector(v)),
                                 {k + "EncoderLayer"})) +
                     in("text_model", k + "TextModel", language.part) +
                     (c.has("density_router_hidden_size") ? router(c, vision.width) : Part{}));
  return with_language_head(std::move(body), text, head_is_tied(c, text, true, Inherit::no),
                            "model.text_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::granite_docling
