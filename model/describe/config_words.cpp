// Every config is checked as a whole, because few families read the type of a rotary embedding.
#include "model/describe/config_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <span>

#include "model/describe/activation_function.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// Sources: transformers 5.23, modeling_rope_utils.py, ROPE_INIT_FUNCTIONS, and the vision configs'
/// "axial"; vLLM 0.19, model_executor/layers/rotary_embedding/__init__.py, get_rope. "su" is the
/// first name of "longrope" (Phi-3), "gptj" the name that GPT-J's published config has.
constexpr std::string_view rope_types[] = {
    "default",  "linear", "dynamic", "ntk",   "yarn",    "deepseek_yarn", "deepseek_llama_scaling",
    "longrope", "su",     "llama3",  "mrope", "mllama4", "xdrope",        "proportional",
    "axial",    "gptj"};

/// Keys whose word is an activation, in all sections.
constexpr std::string_view activation_keys[] = {"hidden_act",          "hidden_activation",
                                                "activation_function", "mamba_hidden_act",
                                                "mlp_hidden_act",      "projector_hidden_act"};

/// Activations that have no class of their own in transformers' table: gates that engines fuse with
/// the product, and functions with parameters. Sources: vLLM 0.19, layers/activation.py,
/// _ACTIVATION_AND_MUL_REGISTRY; transformers 5.23, models/apertus, models/xlm; vLLM 0.33
/// minicpm.py and models/kimi_k3; SGLang 0.5.23 phi3_small.py.
constexpr std::string_view other_activations[] = {"geglu", "swiglu",  "swigluoai", "xielu",
                                                  "prelu", "fatrelu", "gegelu",    "situ"};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

struct WordCheck {
  const std::string& origin;

  [[noreturn]] void fail(const std::string& key, std::string_view kind, std::string_view found,
                         std::string_view known) const {
    throw ConfigError(
        fmt::format("{}: key '{}': unknown {} '{}'; known: {}", origin, key, kind, found, known));
  }
  /// `rope`: rope_parameters or rope_scaling; both may hold one object for each kind of layer.
  void rotation(const json::object& rope, const std::string& path) const {
    for (const auto& [key, value] : rope) {
      const std::string name = path + std::string(key);
      if (value.is_object()) rotation(value.as_object(), name + '.');
      if ((key != "rope_type" && key != "type") || !value.is_string()) continue;
      if (!is_one_of(value.as_string(), rope_types))
        fail(name, "rotary embedding", value.as_string(),
             fmt::format("{}", fmt::join(rope_types, ", ")));
    }
  }
  void section(const json::object& object, const std::string& path) const {
    for (const auto& [key, value] : object) {
      const std::string name = path + std::string(key);
      if (value.is_object()) {
        if (key == "rope_parameters" || key == "rope_scaling")
          rotation(value.as_object(), name + '.');
        else
          section(value.as_object(), name + '.');
      } else if (value.is_string() && is_one_of(key, activation_keys)) {
        const std::string_view word = value.as_string();
        if (activation_class(word).empty() && !is_one_of(word, other_activations))
          fail(name, "activation", word,
               fmt::format("{}, {}", activation_names(), fmt::join(other_activations, ", ")));
      }
    }
  }
};

}  // namespace

void check_words(const Config& config) { WordCheck{config.origin()}.section(config.object(), ""); }

std::string word_of(const Config& config, Config::Keys keys, std::string_view fallback,
                    Config::Keys known) {
  std::string word = config.text(keys, fallback);
  if (std::ranges::find(known, word) == known.end())
    config.fail(*keys.begin(),
                fmt::format("found '{}', expected one of {}", word, fmt::join(known, ", ")));
  return word;
}

}  // namespace headroom::model
