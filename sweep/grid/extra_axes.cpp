#include "sweep/grid/extra_axes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <vector>

namespace headroom::sweep {
namespace {

std::vector<std::string> divided(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

template <class Number>
std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `text` divided by 'x' into whole numbers from 1; empty where it is not that.
std::vector<Size> by_x(const std::string& text) {
  std::vector<Size> all;
  for (const std::string& part : divided(text, 'x')) {
    const auto value = number<Size>(part);
    if (!value || *value < 1) return {};
    all.push_back(*value);
  }
  return all;
}

[[noreturn]] void expected(const std::string& text, std::string_view form) {
  throw std::invalid_argument(fmt::format("found '{}', expected \"none\" or {}", text, form));
}

}  // namespace

ServedExtra parse_extra(std::string_view axis, const std::string& text) {
  ServedExtra out;
  out.text = text;
  if (text == "none") return out;
  if (axis == "speculate") {
    out.speculation = parse_speculation(text);
    return out;
  }
  if (axis == "text_only") {
    if (text != "yes") expected(text, "\"yes\"");
    out.text_only = true;
    return out;
  }
  const auto numbers = by_x(text.substr(0, text.find(':')));
  if (axis == "adapters") {
    if (numbers.size() != 2)
      expected(text, "COUNTxRANK[:TARGETS], \"4x16\", \"4x16:q_proj,v_proj\", \"4x16:all-linear\"");
    out.adapters = model::ServedAdapters{numbers[0], {.rank = numbers[1]}};
    if (const auto colon = text.find(':'); colon != std::string::npos)
      out.adapters->request.targets = divided(text.substr(colon + 1), ',');
    return out;
  }
  if (numbers.size() != 1 && numbers.size() != 3)
    expected(text, "COUNTxWIDTHxHEIGHT in pixels, \"2x1920x1080\"; COUNT where size has no effect");
  out.images = numbers[0];
  if (numbers.size() == 3) out.image = {numbers[1], numbers[2]};
  return out;
}

model::ImageInput image_of(const model::Model& model, const ServedExtra& images,
                           model::ImageLimits limits) {
  const auto refuse = [&](std::string_view why) {
    throw std::invalid_argument(fmt::format("'{}': {} {}", images.text, model.name, why));
  };
  if (model.images.kind == model::ImageTokens::unknown)
    refuse("takes no images, or the number of their tokens is not described");
  const bool fixed = model.images.kind == model::ImageTokens::fixed;
  if (fixed && images.image.width > 0)
    refuse("has a fixed number of tokens for every image: give only the count");
  if (!fixed && images.image.width == 0) refuse("needs the size of images: COUNTxWIDTHxHEIGHT");
  return image_input(model.images, images.image, limits);
}

}  // namespace headroom::sweep
