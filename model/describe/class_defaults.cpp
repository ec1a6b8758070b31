#include "model/describe/class_defaults.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "hardware/embedded.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// The rest of the line that starts with `model_type`: defaults, a tab, names. Empty: no such line.
std::string_view line_of(std::string_view table, std::string_view model_type) {
  while (!table.empty()) {
    const auto end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    if (line.starts_with(model_type) && line.substr(model_type.size()).starts_with('\t'))
      return line.substr(model_type.size() + 1);
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return {};
}

std::string_view table() {
  for (const EmbeddedFile& file : embedded_models())
    if (file.name == "class_defaults.tsv") return file.bytes;
  return {};
}

enum class Sizes { assumed, required };
constexpr std::array<std::string_view, 5> required_sizes{
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"};

Config completed(const Config& c, std::string_view model_type, Sizes sizes) {
  const std::string_view line = line_of(table(), model_type);
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
  return completed(c, model_type, Sizes::required);
}

}  // namespace headroom::model
