// Factors of training estimates from files and flags.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <array>
#include <charconv>
#include <utility>

#include "model/train/factors.hpp"
#include "sweep/options/training_options.hpp"

namespace headroom::sweep {
namespace {

constexpr auto flags_of_keys = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"grad-ckpt-reduction", "recomputation_factor"},
     {"attn-act-factor-fa", "attention_factor_fused"},
     {"attn-act-factor-no-fa", "attention_factor_scores"},
     {"mlp-act-factor", "feed_forward_factor"},
     {"logits-factor", "logits_factor"},
     {"fragmentation-gib", "fragmentation_gib"},
     {"misc-overhead-gib", "misc_gib"}});

double number(std::string_view where, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= 0 && value <= model::most_factor))
    throw UsageError(
        fmt::format("{}: found '{}', expected a number from 0 to 1,000,000", where, text));
  return value;
}

void read_file(const std::string& path, model::Factors& factors) {
  try {
    const toml::table table = toml::parse_file(path);
    for (const auto& [key, node] : table) {
      const auto value = node.value<double>();
      const auto line = key.source().begin.line;
      if (!node.is_number() || !value)
        throw UsageError(fmt::format("{}:{}: key '{}': expected a number", path, line, key.str()));
      try {
        model::set_factor(factors, key.str(), *value);
      } catch (const std::exception& e) {
        throw UsageError(fmt::format("{}:{}: {}", path, line, e.what()));
      }
    }
  } catch (const toml::parse_error& e) {
    throw UsageError(fmt::format("{}:{}: {}", path, e.source().begin.line, e.description()));
  }
}

}  // namespace

model::Factors factors_of(const Options& options) {
  model::Factors factors;
  if (options.given("factors")) read_file(options.text("factors"), factors);
  const auto set = [&](const std::string& flag, std::string_view key, double value) {
    try {
      model::set_factor(factors, key, value);
    } catch (const std::exception& e) {
      throw UsageError(fmt::format("{}: {}", flag, e.what()));
    }
  };
  for (const auto& [flag, key] : flags_of_keys)
    if (options.given(flag)) {
      const std::string name = fmt::format("--{}", flag);
      set(name, key, number(name, options.text(flag)));
    }
  for (const std::string& text : options.texts("set")) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      throw UsageError(fmt::format("--set: found '{}', expected NAME=NUMBER", text));
    set("--set", text.substr(0, equals), number("--set " + text, text.substr(equals + 1)));
  }
  return factors;
}

}  // namespace headroom::sweep
