// Granite 4 Vision: a tower whose features enter several layers of Granite. They pass through a
// Q-Former over windows.
#include <boost/json.hpp>
#include <charconv>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::granite4_vision {

const std::string k = "Granite4Vision";

/// The sides of the query grid and of its window. The config writes them as "4/8".
std::pair<Size, Size> sides_of(const Config& c) {
  const std::string text = c.text({"downsample_rate"});
  const char* end = text.data() + text.size();
  Size query = 0, window = 0;
  const auto slash = std::from_chars(text.data(), end, query).ptr;
  if (slash == end || *slash != '/' || std::from_chars(slash + 1, end, window).ptr != end ||
      query < 1 || window < 1 || window > 4096 || query > 4096)
    c.fail("downsample_rate", "found \"" + text + "\", expected two whole numbers like \"4/8\"");
  return {query, window};
}

/// Source: transformers 5.23, models/granite4_vision.
Part granite4_vision(const Config& c) {
  const Config text = section_of(c, "text_config", "granite4_vision_text");
  const Submodel vision = vision_model(section_of(c, "vision_config", "clip_vision_model"));
  const Submodel granite = text_model(text, "granite");
  const Size width = vision.width;
  boost::json::object settings = section_of(c, "qformer_config", "blip_2_qformer").object();
  settings["hidden_size"] = width;  // the reference sets these and ignores the config
  settings["num_attention_heads"] = width / 64;
  settings["encoder_hidden_size"] = width;
  const Config q(std::move(settings), c.origin());
  const auto [query, window] = sides_of(c);
  const Part projector = tensor("query", {1, query * query, width}, Role::other) +
                         tensor("image_positions", {1, window * window, width}, Role::embedding) +
                         dropout() + qformer(q, "Blip2", width) + layer_norm("norm", width) +
                         linear("out_linear", width, granite.width, Bias::yes);
  const auto projectors = [&](std::string_view name, Size n) {
    Part all{.modules = {{std::string(name), "ModuleList"}}};
    for (Size i = 0; i < n; ++i)
      all = std::move(all) +
            at(name, in(std::to_string(i), k + "WindowQFormerDownsampler", projector));
    return all;
  };
  const auto* map = c.object().if_contains("deepstack_layer_map");
  if (!map || !map->is_array() || map->get_array().size() > 4096)
    c.fail("deepstack_layer_map",
           "expected a list of pairs: layer of the tower, layer of the text");
  Part body =
      in("model", k + "Model",
         tensor("image_newline", {granite.width}, Role::other) + vision.as("vision_tower") +
             in("language_model", k + "TextModel", renamed(granite.part, "Granite", k + "Text")) +
             projectors("layerwise_projectors", static_cast<Size>(map->get_array().size())) +
             projectors("spatial_projectors", 4));
  return with_language_head(with_unsplittable(std::move(body), {k + "WindowQFormerDownsampler"}),
                            text, head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::granite4_vision
