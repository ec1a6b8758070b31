#include "sweep/options/model_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sweep/options/flags.hpp"

namespace headroom::sweep {
namespace {

/// "custom?hidden_size=768&layers=12"; empty without such flags.
std::string custom_reference(const Options& options) {
  std::string text;
  for (const Flag& flag : flags()) {
    if (!options.given(flag.name) || custom_flag(flag.name).empty()) continue;
    std::string key(flag.name);
    std::ranges::replace(key, '-', '_');
    text += fmt::format("{}{}={}", text.empty() ? "custom?" : "&", key,
                        fmt::join(options.texts(flag.name), ","));
  }
  return text;
}

}  // namespace

std::vector<std::string> models_given(const Options& options) {
  auto names = options.operands();
  if (options.given("model")) names.insert(names.begin(), options.text("model"));
  const std::string custom = custom_reference(options);
  if (custom.empty()) {
    if (names.empty())
      throw UsageError(
          "which MODEL? `headroom models list` shows the catalogue; --hidden-size, --layers and "
          "so on describe one of your own");
    return names;
  }
  if (names.empty()) return {custom};
  for (const Flag& flag : flags())
    if (options.given(flag.name) && !custom_flag(flag.name).empty())
      throw UsageError(fmt::format(
          "--{} describes a custom model and has no effect on '{}'; change its own keys as in "
          "'{}?num_hidden_layers=12'",
          flag.name, names.front(), names.front()));
  return names;
}

std::string model_given(const Options& options) {
  const auto names = models_given(options);
  if (names.size() > 1)
    throw UsageError(
        fmt::format("one MODEL at a time here, found {}; `sweep` and `params` take many. A machine "
                    "is one text: "
                    "--machine \"2x rtx-4090\"",
                    fmt::join(names, ", ")));
  return names.front();
}

}  // namespace headroom::sweep
