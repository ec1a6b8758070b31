#include "model/describe/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "hardware/units.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// Most squares of an image. A config that asks for more is broken.
constexpr Size most_squares = 4096;

/// Rules by model_type. Limits of area and edges are those of the published processors, limits of
/// tokens those of llama.cpp tools/mtmd/clip.cpp set_limit_image_tokens (files of dots.ocr have the
/// processor's).
struct ImageRow {
  std::string_view model_type;
  ImageTokens kind;
  Size patch, merge, min_pixels, max_pixels;
  std::string_view source;
  Size least_tokens = 0, most_tokens = 0;       ///< as ImageRule has them
  Size video_embeddings = 0, video_tokens = 0;  ///< likewise
};
constexpr std::string_view qwen2 =
    "preprocessor_config.json of Qwen2-VL and Qwen2.5-VL: min_pixels, max_pixels";
constexpr std::string_view qwen3 =
    "preprocessor_config.json of Qwen3-VL: size.shortest_edge, size.longest_edge";
constexpr std::string_view internvl =
    "config.json: min_dynamic_patch, max_dynamic_patch, downsample_ratio";
constexpr auto image_rows = std::to_array<ImageRow>({
    {"qwen2_vl", ImageTokens::area, 14, 2, 3136, 12845056, qwen2, 8, 4096},
    {"qwen2_5_vl", ImageTokens::area, 14, 2, 3136, 12845056, qwen2, 8, 4096},
    {"qwen3_vl", ImageTokens::area, 16, 2, 65536, 16777216, qwen3, 8, 4096, 12288, 153600},
    {"qwen3_vl_moe", ImageTokens::area, 16, 2, 65536, 16777216, qwen3, 8, 4096, 12288, 153600},
    {"qwen3_5", ImageTokens::area, 16, 2, 65536, 16777216, qwen3, 8, 4096},
    {"qwen3_5_moe", ImageTokens::area, 16, 2, 65536, 16777216, qwen3, 8, 4096},
    {"gemma3", ImageTokens::fixed, 14, 1, 0, 0, "config.json: mm_tokens_per_image"},
    {"paligemma", ImageTokens::fixed, 14, 1, 0, 0,
     "transformers processing_paligemma.py: image_seq_length, the grid"},
    {"llava", ImageTokens::fixed, 14, 1, 0, 0, "transformers processing_llava.py: the grid"},
    {"mistral3", ImageTokens::rows, 14, 2, 0, 0, "transformers processing_pixtral.py", 8, 1024},
    {"dots_ocr", ImageTokens::area, 14, 2, 3136, 11289600,
     "preprocessor_config.json of dots.ocr: min_pixels, max_pixels"},
    {"internvl_chat", ImageTokens::tiles, 14, 1, 0, 0, internvl},
    {"skywork_chat", ImageTokens::tiles, 14, 1, 0, 0, internvl},
});

/// Reads the object directly, so that the key does not count as read by the description.
Size number_in(const json::object* object, std::string_view key, Size fallback) {
  if (object == nullptr) return fallback;
  const auto* value = object->if_contains(key);
  return value != nullptr && value->is_int64() && value->as_int64() > 0 ? value->as_int64()
                                                                        : fallback;
}

/// Length of a list; 0: there is none.
Size entries_in(const json::object* object, std::string_view key) {
  const auto* value = object == nullptr ? nullptr : object->if_contains(key);
  return value != nullptr && value->is_array() ? std::ssize(value->as_array()) : 0;
}

double real_in(const json::object& object, std::string_view key, double fallback) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<double>() : fallback;
}

bool flag_in(const json::object& object, std::string_view key, bool fallback) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_bool() ? value->as_bool() : fallback;
}

/// Squares of InternVL. Defaults are those of its config class.
void read_tiles(ImageRule& rule, const json::object& all, const json::object* vision) {
  rule.edge = number_in(&all, "force_image_size", number_in(vision, "image_size", 448));
  const Size side = rule.edge / rule.patch;
  const double ratio = real_in(all, "downsample_ratio", 0.5);
  rule.patches = side * side;
  rule.tokens = static_cast<Size>(static_cast<double>(rule.patches) * ratio * ratio);
  if (!flag_in(all, "dynamic_image_size", true)) return;
  rule.least_tiles = number_in(&all, "min_dynamic_patch", 1);
  rule.most_tiles = std::min<Size>(number_in(&all, "max_dynamic_patch", 6), most_squares);
  rule.whole = flag_in(all, "use_thumbnail", false);
}

/// Edges in pixels, scaled as `area` says.
struct Edges {
  double height, width;
};
Edges scaled_to_area(const ImageRule& rule, double height, double width) {
  if (std::max(height, width) > 200 * std::min(height, width))
    throw std::invalid_argument("an image more than 200 times as long as wide is refused");
  const double f = static_cast<double>(rule.patch * rule.merge);
  const double least = static_cast<double>(rule.min_pixels);
  const double most = static_cast<double>(rule.max_pixels);
  double h = std::nearbyint(height / f) * f, w = std::nearbyint(width / f) * f;
  if (h * w > most) {
    const double beta = std::sqrt(height * width / most);
    h = std::max(f, std::floor(height / beta / f) * f);
    w = std::max(f, std::floor(width / beta / f) * f);
  } else if (h * w < least) {
    const double beta = std::sqrt(least / (height * width));
    h = std::ceil(height * beta / f) * f;
    w = std::ceil(width * beta / f) * f;
  }
  return {h, w};
}

ImageInput by_area(const ImageRule& rule, double height, double width) {
  const double f = static_cast<double>(rule.patch * rule.merge);
  const Edges edges = scaled_to_area(rule, height, width);
  const auto tokens = static_cast<Size>(edges.height / f) * static_cast<Size>(edges.width / f);
  return {tokens, tokens * rule.merge * rule.merge};
}

/// The rule with llama.cpp's limits in place of the processor's.
ImageRule within_tokens(ImageRule rule) {
  const Size f = rule.patch * rule.merge;
  rule.min_pixels = rule.least_tokens * f * f;
  rule.max_pixels = rule.most_tokens * f * f;
  return rule;
}

ImageInput by_rows(const ImageRule& rule, double height, double width) {
  const double edge = static_cast<double>(rule.longest_edge);
  if (const double ratio = std::max(height, width) / edge; ratio > 1) {
    height = std::floor(height / ratio);
    width = std::floor(width / ratio);
  }
  const Size f = rule.patch * rule.merge;
  const Size down = divided_up(std::max<Size>(1, static_cast<Size>(height)), f);
  const Size along = divided_up(std::max<Size>(1, static_cast<Size>(width)), f);
  return {down * (along + 1), down * along * rule.merge * rule.merge};
}

/// The rule for an image that has its size already.
ImageRule without_longest_edge(ImageRule rule) {
  rule.longest_edge = std::numeric_limits<Size>::max();
  return rule;
}

ImageInput by_tiles(const ImageRule& rule, double height, double width) {
  const double shape = width / height, pixels = width * height;
  const double square = static_cast<double>(rule.edge) * static_cast<double>(rule.edge);
  double nearest = std::numeric_limits<double>::infinity();
  Size tiles = 1;
  for (Size n = rule.least_tiles; n <= rule.most_tiles; ++n)
    for (Size across = 1; across <= n; ++across) {
      if (n % across != 0) continue;
      const Size down = n / across;
      const double distance =
          std::abs(shape - static_cast<double>(across) / static_cast<double>(down));
      const bool larger = distance == nearest && pixels > 0.5 * square * static_cast<double>(n);
      if (distance < nearest || larger) nearest = distance, tiles = n;
    }
  if (rule.whole && tiles > 1) ++tiles;
  return {tiles * rule.tokens, tiles * rule.patches};
}

}  // namespace

VisionConfig vision_config(const Config& config) {
  const auto* section = config.object().if_contains("vision_config");
  if (section == nullptr || !section->is_object()) return {};
  const json::object* vision = &section->as_object();
  return {.stated = true,
          .layers = number_in(vision, "num_hidden_layers", 24),
          .hidden = number_in(vision, "hidden_size", 1024)};
}

ImageRule image_rule(const Config& config) {
  const json::object& all = config.object();
  const auto* type = all.if_contains("model_type");
  if (type == nullptr || !type->is_string()) return {};
  const auto row =
      std::ranges::find(image_rows, std::string_view(type->as_string()), &ImageRow::model_type);
  if (row == image_rows.end()) return {};
  const auto* section = all.if_contains("vision_config");
  const json::object* vision =
      section != nullptr && section->is_object() ? &section->as_object() : nullptr;
  ImageRule rule{.kind = row->kind, .source = row->source};
  rule.patch = number_in(vision, "patch_size", row->patch);
  rule.merge =
      number_in(vision, "spatial_merge_size", number_in(&all, "spatial_merge_size", row->merge));
  rule.min_pixels = row->min_pixels;
  rule.max_pixels = row->max_pixels;
  rule.least_tokens = row->least_tokens;
  rule.most_tokens = row->most_tokens;
  rule.video_embeddings = row->video_embeddings;
  rule.video_tokens = row->video_tokens;
  rule.longest_edge = number_in(vision, "image_size", 1540);
  rule.hidden =
      number_in(vision, row->model_type == "qwen2_vl" ? "embed_dim" : "hidden_size", 1280);
  rule.features = 1 + entries_in(vision, "deepstack_visual_indexes");
  if (rule.kind == ImageTokens::tiles) read_tiles(rule, all, vision);
  if (rule.kind != ImageTokens::fixed) return rule;
  const Size side =
      number_in(vision, "image_size", number_in(&all, "image_size", 224)) / rule.patch;
  rule.patches = side * side;
  rule.tokens =
      number_in(&all, "mm_tokens_per_image", number_in(vision, "num_image_tokens", rule.patches));
  return rule;
}

ImageInput image_input(const ImageRule& rule, ImageSize size, ImageLimits limits) {
  if (rule.kind == ImageTokens::fixed) return {rule.tokens, rule.patches};
  if (size.width < 1 || size.height < 1)
    throw std::invalid_argument("an image's tokens depend on its width and height in pixels");
  const auto height = static_cast<double>(size.height), width = static_cast<double>(size.width);
  const bool in_tokens = limits == ImageLimits::tokens && rule.most_tokens > 0;
  if (rule.kind == ImageTokens::area)
    return by_area(in_tokens ? within_tokens(rule) : rule, height, width);
  if (rule.kind == ImageTokens::rows && in_tokens) {
    const Edges edges = scaled_to_area(within_tokens(rule), height, width);
    return by_rows(without_longest_edge(rule), edges.height, edges.width);
  }
  if (rule.kind == ImageTokens::rows) return by_rows(rule, height, width);
  if (rule.kind == ImageTokens::tiles) return by_tiles(rule, height, width);
  throw std::invalid_argument("the number of tokens of an image is not described for this model");
}

}  // namespace headroom::model
