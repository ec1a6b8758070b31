#include "model/describe/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <stdexcept>

namespace headroom::model {
namespace {

namespace json = boost::json;

/// Rules by model_type. Limits of area and edges are those of the published processors.
struct ImageRow {
  std::string_view model_type;
  ImageTokens kind;
  Size patch, merge, min_pixels, max_pixels;
  std::string_view source;
};
constexpr std::string_view qwen2 =
    "preprocessor_config.json of Qwen2-VL and Qwen2.5-VL: min_pixels, max_pixels";
constexpr std::string_view qwen3 =
    "preprocessor_config.json of Qwen3-VL: size.shortest_edge, size.longest_edge";
constexpr auto image_rows = std::to_array<ImageRow>({
    {"qwen2_vl", ImageTokens::area, 14, 2, 3136, 12845056, qwen2},
    {"qwen2_5_vl", ImageTokens::area, 14, 2, 3136, 12845056, qwen2},
    {"qwen3_vl", ImageTokens::area, 16, 2, 65536, 16777216, qwen3},
    {"qwen3_vl_moe", ImageTokens::area, 16, 2, 65536, 16777216, qwen3},
    {"qwen3_5", ImageTokens::area, 16, 2, 65536, 16777216, qwen3},
    {"qwen3_5_moe", ImageTokens::area, 16, 2, 65536, 16777216, qwen3},
    {"gemma3", ImageTokens::fixed, 14, 1, 0, 0, "config.json: mm_tokens_per_image"},
    {"paligemma", ImageTokens::fixed, 14, 1, 0, 0,
     "transformers processing_paligemma.py: image_seq_length, the grid"},
    {"llava", ImageTokens::fixed, 14, 1, 0, 0, "transformers processing_llava.py: the grid"},
    {"mistral3", ImageTokens::rows, 14, 2, 0, 0, "transformers processing_pixtral.py"},
});

/// Reads the object directly, so that the key does not count as read by the description.
Size number_in(const json::object* object, std::string_view key, Size fallback) {
  if (object == nullptr) return fallback;
  const auto* value = object->if_contains(key);
  return value != nullptr && value->is_int64() && value->as_int64() > 0 ? value->as_int64()
                                                                        : fallback;
}

Size ceiling(Size n, Size multiple) { return (n + multiple - 1) / multiple; }

ImageInput by_area(const ImageRule& rule, double height, double width) {
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
  const auto tokens = static_cast<Size>(h / f) * static_cast<Size>(w / f);
  return {tokens, tokens * rule.merge * rule.merge};
}

ImageInput by_rows(const ImageRule& rule, double height, double width) {
  const double edge = static_cast<double>(rule.longest_edge);
  if (const double ratio = std::max(height, width) / edge; ratio > 1) {
    height = std::floor(height / ratio);
    width = std::floor(width / ratio);
  }
  const Size f = rule.patch * rule.merge;
  const Size down = ceiling(std::max<Size>(1, static_cast<Size>(height)), f);
  const Size along = ceiling(std::max<Size>(1, static_cast<Size>(width)), f);
  return {down * (along + 1), down * along * rule.merge * rule.merge};
}

}  // namespace

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
  rule.longest_edge = number_in(vision, "image_size", 1540);
  rule.hidden =
      number_in(vision, row->model_type == "qwen2_vl" ? "embed_dim" : "hidden_size", 1280);
  if (rule.kind != ImageTokens::fixed) return rule;
  const Size side =
      number_in(vision, "image_size", number_in(&all, "image_size", 224)) / rule.patch;
  rule.patches = side * side;
  rule.tokens =
      number_in(&all, "mm_tokens_per_image", number_in(vision, "num_image_tokens", rule.patches));
  return rule;
}

ImageInput image_input(const ImageRule& rule, ImageSize size) {
  if (rule.kind == ImageTokens::fixed) return {rule.tokens, rule.patches};
  if (size.width < 1 || size.height < 1)
    throw std::invalid_argument("an image's tokens depend on its width and height in pixels");
  const auto height = static_cast<double>(size.height), width = static_cast<double>(size.width);
  if (rule.kind == ImageTokens::area) return by_area(rule, height, width);
  if (rule.kind == ImageTokens::rows) return by_rows(rule, height, width);
  throw std::invalid_argument("how the model turns images into tokens is not described");
}

}  // namespace headroom::model
