#include "model/describe/class_defaults.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "hardware/embedded.hpp"
#include "hardware/sorted_table.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// The line of `model_type` after its name: defaults, a tab, names. Empty: no such line.
std::string_view line_of(std::string_view model_type) {
  static const SortedTable table(embedded_models().content("class_defaults.tsv"));
  return table.row(std::string(model_type) + '\t');
}

enum class Sizes { assumed, required };
constexpr std::array<std::string_view, 5> required_sizes{
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"};

Config completed(const Config& c, std::string_view model_type, Sizes sizes) {
  const std::string_view line = line_of(model_type);
  if (line.empty()) return c;
  const auto tab = line.find('\t');
  json::object defaults = json::parse(line.substr(0, tab)).as_object();
  const json::object names = json::parse(line.substr(tab + 1)).as_object();
  if (sizes == Sizes::required) {
    bool flat = false;  // older files state at the top level what newer ones have in sections
    for (const std::string_view size : required_sizes) {
      const json::value* name = names.if_contains(size);
      defaults.erase(name ? std::string_view(name->as_string()) : size);
      flat = flat || c.object().contains(size);
    }
    // Qwen's speech models have all of a newer file's sections within this one.
    if (c.has("thinker_config"))
      for (const std::string_view inner : {"text_config", "audio_config"}) defaults.erase(inner);
    for (auto it = defaults.begin(); flat && it != defaults.end();)
      it = it->value().is_object() ? defaults.erase(it) : it + 1;
  }
  return c.renamed(names).with_defaults(defaults);
}

}  // namespace

Config with_class_defaults(const Config& c, std::string_view model_type) {
  return completed(c, model_type, Sizes::assumed);
}

Config with_optional_class_defaults(const Config& c, std::string_view model_type) {
  return completed(c.without("quantization_config"), model_type, Sizes::required);
}

}  // namespace headroom::model
