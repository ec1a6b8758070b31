#include "model/describe/nested_decoder.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "model/describe/architecture.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

constexpr std::string_view section_name = "text_config";

std::string_view text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

bool states_sizes(const json::object& object) {
  constexpr std::string_view sizes[] = {"hidden_size", "n_embd", "d_model", "num_hidden_layers"};
  return std::ranges::any_of(sizes, [&](std::string_view size) { return object.contains(size); });
}

bool is_decoder_of(std::string_view name, std::string_view type) {
  return std::ranges::any_of(architectures(), [&](const Architecture& row) {
    return row.name == name && row.model_type == type &&
           (name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel"));
  });
}

}  // namespace

Config with_nested_decoder(const Config& file) {
  const json::object& whole = file.object();
  const json::value* section = whole.if_contains(section_name);
  if (section == nullptr || !section->is_object() || states_sizes(whole)) return file;
  const json::object& text = section->get_object();
  if (!states_sizes(text) || !is_decoder_of(file.class_name(), text_of(text, "model_type")))
    return file;
  json::object flat = text;
  for (const auto& [key, value] : whole)
    if (key != section_name) flat.emplace(key, value);
  flat["architectures"] = whole.at("architectures");
  return Config(std::move(flat), file.origin());
}

}  // namespace headroom::model
