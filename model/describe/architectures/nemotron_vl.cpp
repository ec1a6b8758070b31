// Nemotron's vision-language models with C-RADIO's or SigLIP's tower: Llama Nemotron Nano VL and
// its embedding model, and Nemotron-H with images and, in Omni models, with Parakeet's encoder.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>
#include <set>

#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

namespace {

struct TimmTower {
  std::string_view name;
  Size width, layers, inner;
};
/// Source: vLLM 0.33 transformers_utils/configs/radio.py, VIT_TIMM_DIM_BY_NAME.
constexpr TimmTower timm_towers[] = {{"vit_small_patch16_224", 384, 12, 1536},
                                     {"vit_base_patch16_224", 768, 12, 3072},
                                     {"vit_large_patch16_224", 1024, 24, 4096},
                                     {"vit_huge_patch16_224", 1280, 32, 5120},
                                     {"vit_so400m_patch16_224", 1152, 27, 4304}};

const TimmTower& timm_tower(const Config& args) {
  const std::string name = args.text({"model"});
  std::string known;
  for (const TimmTower& row : timm_towers) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  args.fail("model", fmt::format("found '{}', expected one of {}", name, known));
}

/// Summary tokens and registers. Each teacher has a summary of its own where the config says so.
Size extra_tokens(const Config& args) {
  std::set<std::string> teachers;
  const auto* list = args.object().if_contains("teachers");
  if (list != nullptr && list->is_array())
    for (const auto& teacher : list->get_array())
      if (teacher.is_object() && teacher.get_object().contains("name"))
        teachers.emplace(teacher.get_object().at("name").as_string());
  const Size summaries = args.flag({"cls_token_per_teacher"}, false)
                             ? std::max<Size>(1, static_cast<Size>(teachers.size()))
                             : 1;
  const Size multiple = args.count({"register_multiple"}, 0);
  return summaries + (multiple > 0 ? multiple - summaries % multiple : 0);
}

}  // namespace

/// Source: vLLM 0.33 radio.py.
Submodel c_radio(const Config& v) {
  const Config args = v.section("args");
  const TimmTower& t = timm_tower(args);
  const Size patch = v.dim({"patch_size"}, 16), pixels = 3 * patch * patch;
  const Size side = (args.dim({"cpe_max_size"}, 2048) + patch / 2) / patch;
  const Size frames = v.dim({"video_temporal_patch_size"}, 1);
  Part patches =
      tensor("pos_embed", {1, side * side, t.width}, Role::embedding) +
      in("cls_token", "ClsToken", tensor("token", {extra_tokens(args), t.width}, Role::other)) +
      linear("embedder", pixels, t.width);
  if (frames > 1) patches = std::move(patches) + linear("video_embedder", frames * pixels, t.width);
  Part model =
      in("model", "VisionTransformer",
         in("patch_generator", "ViTPatchGenerator", std::move(patches)) +
             stack("blocks", "RadioBlock", t.layers, [&] { return timm_layer(t.width, t.inner); }));
  Part p = in("radio_model", "RADIOModelBase",
              std::move(model) + in("input_conditioner", "InputConditioner",
                                    buffer("norm_mean", {3, 1, 1}, Element::floating, true) +
                                        buffer("norm_std", {3, 1, 1}, Element::floating, true)));
  return {"RADIOModel", unsplittable(std::move(p), {"RadioBlock"}), t.width};
}

namespace nemotron_vl {

/// The text model's section under either of its names.
Config text_section(const Config& c, std::string_view type) {
  return section_of(c, c.has("text_config") ? "text_config" : "llm_config", type);
}

/// Width after blocks of pixels are shuffled into channels.
Size shuffled(const Config& c, Size width) {
  const double ratio = c.number({"downsample_ratio"}, 0.5);
  if (!(ratio > 0.0 && ratio <= 1.0)) c.fail("downsample_ratio", "expected a number in (0, 1]");
  const Size side = std::llround(1.0 / ratio);
  return times({width, side, side});
}

/// Norm, linear layer, activation and linear layer.
Part mlp1(Size wide, Size inner, Size width) {
  return in("mlp1", "Sequential",
            layer_norm("0", wide) + linear("1", wide, inner, Bias::yes) + module("2", "GELU") +
                linear("3", inner, width, Bias::yes));
}

/// Source: vLLM 0.33 nemotron_vl.py, LlamaNemotronVLChatModel.
Part llama_nemotron(const Config& c) {
  const Config text = text_section(c, "llama");
  const Submodel vision = c_radio(c.section("vision_config"));
  const Size seen = c.dim({"vit_hidden_size"}, vision.width), width = width_of(text);
  return vision.as("vision_model") +
         mlp1(shuffled(c, seen), c.dim({"projector_hidden_size"}, width), width) +
         whole_model(text, "language_model");
}

/// An embedding model: Llama attends in both directions and keeps no cache. Source: vLLM 0.33
/// nemotron_vl.py, LlamaNemotronVLForEmbedding.
Part embedding_model(const Config& c) {
  const Config text = with_class_defaults(text_section(c, "llama"), "llama");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "siglip_vision_model")
                       .with_defaults({{"vision_use_head", false}});
  const Submodel vision = siglip_vision(v), language = text_model(text, "llama");
  Part p = vision.as("vision_model") +
           mlp1(shuffled(c, vision.width), language.width, language.width) +
           language.as("language_model");
  p.caches.clear();
  return p;
}

/// A projector without biases: norm, linear layer, squared ReLU, linear layer.
Part plain_projector(std::string_view name, Size from, Size through, Size width) {
  return in(name, "Sequential",
            rms_norm("0", "RMSNorm", from) + linear("1", from, through) +
                module("2", "ReLUSquaredActivation") + linear("3", through, width));
}

/// Source: vLLM 0.33 nano_nemotron_vl.py and parakeet.py.
Part nemotron_h(const Config& c) {
  const Config text = text_section(c, "nemotron_h");
  const Submodel vision = c_radio(c.section("vision_config"));
  const Size seen = c.dim({"vit_hidden_size"}, vision.width), width = width_of(text);
  Part p = whole_model(text, "language_model") + vision.as("vision_model") +
           plain_projector("mlp1", shuffled(c, seen), c.dim({"projector_hidden_size"}), width);
  if (text.count({"num_nextn_predict_layers"}, 0) > 0)
    p = std::move(p) +
        in("vision_projector", "VisionProjector", layer_norm("vision_final_layernorm", seen));
  if (!c.has("sound_config")) return p;
  const Config a = with_class_defaults(
      c.section("sound_config").with_defaults({{"attention_bias", false}}), "parakeet_encoder");
  const Submodel ears = parakeet_encoder(a);
  const Size inner = a.dim({"projection_hidden_size"});
  const Bias bias = a.bias({"projection_bias"}, false);
  return std::move(p) + in("sound_encoder", "ProjectedParakeet", ears.as("encoder")) +
         in("sound_projection", "ParakeetProjection",
            rms_norm("norm", "RMSNorm", ears.width) + linear("linear1", ears.width, inner, bias) +
                module("act", "ReLUSquaredActivation") + linear("linear2", inner, width, bias));
}

}  // namespace nemotron_vl

}  // namespace headroom::model::families
