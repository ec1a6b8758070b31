#include "sweep/options/target_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hardware/quantity_text.hpp"

namespace headroom::sweep {
namespace {

double limit_of(const Options& options, std::string_view flag) {
  const auto limit = options.read(flag, parse_seconds);
  return limit ? limit->value() : model::LateLimits::none;
}

/// `flag` has an effect only beside one of `others`, which the words name.
void needs(const Options& options, std::string_view flag, bool there, std::string_view words) {
  if (options.given(flag) && !there)
    throw UsageError(fmt::format("--{} has no effect without {}", flag, words));
}

/// The multiple of today's demand after the months of growth.
double grown(const Options& options) {
  const double growth = options.read("growth", parse_positive_share).value_or(0);
  return std::pow(1 + growth, static_cast<double>(options.whole("months", 12)));
}

void check(const Options& options, const model::Target& target) {
  const bool rate = target.requests_s > 0 || target.output_tokens_s > 0;
  const bool users = options.given("users");
  needs(options, "burstiness", rate, "--requests-s or --tokens-s");
  needs(options, "load-factor", target.at_random(), "--requests-s, --tokens-s or --think-time");
  needs(options, "think-time", !rate, "--users: a rate says how often requests come");
  needs(options, "active-share", users, "--users");
  needs(options, "growth", rate || users, "--users, --requests-s or --tokens-s");
  needs(options, "months", options.given("growth"), "--growth");
  needs(options, "spares", rate || users, "--users, --requests-s or --tokens-s");
}

}  // namespace

model::Target target_of(const Options& options, model::Target target) {
  target.ttft = options.read("max-ttft", parse_seconds);
  target.tpot = options.read("max-tpot", parse_seconds);
  target.late = {limit_of(options, "max-ttft-p95"), limit_of(options, "max-tpot-p95"),
                 limit_of(options, "max-e2e-p99")};
  const double times = grown(options);
  const double active = options.read("active-share", parse_positive_share).value_or(1);
  if (options.given("users"))
    target.users = static_cast<Size>(
        std::ceil(times * active * static_cast<double>(options.whole("users", 1)) - 1e-9));
  target.requests_s = times * options.read("requests-s", parse_positive).value_or(0);
  target.output_tokens_s = times * options.read("tokens-s", parse_positive).value_or(0);
  if (const auto think = options.read("think-time", parse_seconds)) target.think = think->value();
  target.burstiness = options.read("burstiness", parse_positive).value_or(1);
  target.load_factor =
      options.read("load-factor", parse_positive_share).value_or(model::usual_load_factor);
  target.any_batch = !options.given("batch");
  target.offload = options.given("allow-offload");
  target.strict = options.given("strict");
  check(options, target);
  return target;
}

Size percentile_of(const Options& options, std::string_view flag, Size median) {
  const std::string percentile = std::string(flag) + "-p95";
  const Size high = options.whole(percentile, median);
  if (high < median)
    throw UsageError(
        fmt::format("--{}: {} is less than the median, --{} {}", percentile, high, flag, median));
  return high;
}

void set_spread(const Options& options, const model::Target& target, model::Scenario& request) {
  request.prompt_tokens_p95 = percentile_of(options, "prompt-tokens", request.prompt_tokens);
  request.output_tokens_p95 = percentile_of(options, "output-tokens", request.output_tokens);
  const bool slowest = target.late.any() || target.at_random();
  for (const auto flag : {"prompt-tokens-p95", "output-tokens-p95"})
    needs(options, flag, slowest,
          "a limit on the slowest (--max-ttft-p95), --requests-s, --tokens-s or --think-time");
}

}  // namespace headroom::sweep
