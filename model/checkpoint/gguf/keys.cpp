#include "model/checkpoint/gguf/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/part.hpp"

namespace headroom::model {

namespace json = boost::json;

GgufKeys::GgufKeys(const GgufHeader& header, const TensorList& tensors)
    : header_(header), origin_(tensors.origin), architecture_(header.text("general.architecture")) {
  if (architecture_.empty())
    throw FormatError(origin_ + ": key 'general.architecture' is missing or not a text");
  for (const TensorHeader& each : tensors.tensors) tensors_.emplace(each.name, &each);
  if (!has("block_count")) return;
  layers_ = number("block_count");
  // Here, before lists of an entry a layer are made.
  if (layers_ > most_layers)
    fail("block_count", fmt::format("found {}, expected at most {}", layers_, most_layers));
  // Layers that predict further tokens come after the model's layers, if they were converted at
  // all.
  const Size further = number("nextn_predict_layers", 0);
  if (further > 0 && further < layers_ &&
      (layer_has(layers_ - 1, "nextn.eh_proj.weight") ||
       !layer_has(layers_ - 1, "attn_norm.weight"))) {
    if (layer_has(layers_ - 1, "nextn.eh_proj.weight")) predictors_ = further;
    layers_ -= further;
  }
}

bool GgufKeys::has(std::string_view key) const { return header_.values.contains(full(key)); }

void GgufKeys::fail(std::string_view key, std::string_view what) const {
  throw FormatError(fmt::format("{}: key '{}': {}", origin_, full(key), what));
}

Size GgufKeys::checked(std::int64_t value, const std::string& key) const {
  constexpr Size most = Size{1} << 30;
  if (value < 0 || value > most)
    throw FormatError(fmt::format("{}: key '{}': found {}, expected a whole number from 0 to {}",
                                  origin_, key, value, most));
  return value;
}

Size GgufKeys::number(std::string_view key) const {
  const std::string name = full(key);
  const auto it = header_.values.find(name);
  if (it == header_.values.end())
    throw FormatError(fmt::format("{}: key '{}' is missing", origin_, name));
  if (const auto* value = std::get_if<std::int64_t>(&it->second)) return checked(*value, name);
  Size most = 0;
  const auto* list = std::get_if<GgufList>(&it->second);
  if (list == nullptr || list->numbers.empty())
    throw FormatError(
        fmt::format("{}: key '{}': expected a whole number, or a list of them", origin_, name));
  for (const auto value : list->numbers) most = std::max(most, checked(value, name));
  return most;
}

Size GgufKeys::number(std::string_view key, Size fallback) const {
  return has(key) ? number(key) : fallback;
}

std::vector<Size> GgufKeys::by_layer(std::string_view key) const {
  if (!has(key)) return {};
  const std::string name = full(key);
  if (const auto* list = std::get_if<GgufList>(&header_.values.at(name))) {
    std::vector<Size> all;
    for (const auto value : list->numbers) all.push_back(checked(value, name));
    return all;
  }
  return std::vector<Size>(static_cast<std::size_t>(std::min(layers_, most_layers)), number(key));
}

bool GgufKeys::layer_has(Size i, std::string_view name) const {
  return has_tensor(fmt::format("blk.{}.{}", i, name));
}

bool GgufKeys::some_layer_has(std::string_view name) const {
  for (Size i = 0; i < std::min(layers_, most_layers); ++i)
    if (layer_has(i, name)) return true;
  return false;
}

const TensorHeader* GgufKeys::tensor(std::string_view name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : it->second;
}

Size GgufKeys::rows(std::string_view name) const {
  const auto* found = tensor(name);
  return found == nullptr || found->shape.empty() ? 0 : found->shape.front();
}

Size GgufKeys::columns(std::string_view name) const {
  const auto* found = tensor(name);
  return found == nullptr || found->shape.empty() ? 0 : found->shape.back();
}

void GgufKeys::store(std::string_view key, json::value value) {
  json::object* where = &config_;
  for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    json::value& section = (*where)[key.substr(0, dot)];
    if (!section.is_object()) section = json::object();
    where = &section.as_object();
    key.remove_prefix(dot + 1);
  }
  (*where)[key] = std::move(value);
}

}  // namespace headroom::model
