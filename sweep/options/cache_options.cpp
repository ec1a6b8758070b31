#include "sweep/options/cache_options.hpp"

#include <fmt/format.h>

namespace headroom::sweep {
namespace {

constexpr std::string_view both_flag = "kv-precision", key_flag = "cache-type-k",
                           value_flag = "cache-type-v";

model::CachePrecision formats_of(const Options& options) {
  if (!options.given(key_flag) && !options.given(value_flag))
    return model::asked_cache(options.text(both_flag, "auto"));
  if (options.given(both_flag))
    throw UsageError(fmt::format("--{}: give it, as in q8_0/q4_0, or --{} and --{}", both_flag,
                                 key_flag, value_flag));
  const auto format = [&](std::string_view flag) -> const Precision* {
    const std::string name = options.text(flag, "auto");
    return name == "auto" ? nullptr : &precision(name);
  };
  return {format(key_flag), format(value_flag)};
}

}  // namespace

void set_cache(const Options& options, model::Scenario& s) {
  s.kv_precision = formats_of(options);
  s.kv_cache = !options.given("no-kv-cache");
  if (s.kv_cache) return;
  for (const std::string_view flag : {both_flag, key_flag, value_flag})
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect with --no-kv-cache", flag));
}

}  // namespace headroom::sweep
