#include "sweep/grid/inference_axes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "hardware/quantity_text.hpp"
#include "model/engine/default_cache.hpp"
#include "sweep/grid/digits.hpp"

namespace headroom::sweep {
namespace {

using Setter = Change<Choice>;
using model::Scenario;

Setter set_model(const std::string& text, Names& names) {
  return [m = names.models.at(text)](Choice& c) { c.model = m; };
}
Setter set_precision(const std::string& text, Names&) {
  return [s = text == "auto" ? nullptr : &model::scheme(text)](Choice& c) { c.scheme = s; };
}
Setter set_kv_precision(const std::string& text, Names&) {
  return [p = model::asked_cache(text)](Choice& c) { c.decides.kv_precision = p; };
}
/// Concurrent requests are the batch.
Setter set_concurrency(const std::string& text, Names&) {
  return [n = Size{std::stoll(text)}](Choice& c) { c.decides.concurrency = c.decides.batch = n; };
}
Setter set_runtime(const std::string& text, Names& names) {
  return [r = &names.engines.named(text)](Choice& c) { c.decides.runtime = r; };
}
/// `value` in whole parts of one.
Size whole_parts(double value, double parts_of_one, const std::string& text) {
  constexpr double most = 1e15;
  const double parts = std::round(value * parts_of_one);
  if (parts < 1 || parts > most)
    throw std::invalid_argument(
        fmt::format("found '{}', expected at least {:g}", text, 1 / parts_of_one));
  return static_cast<Size>(parts);
}
constexpr double micro = 1e-6, thousandth = 1e-3;
template <Size Scenario::*limit>
Setter set_limit(const std::string& text, Names&) {
  return [n = whole_parts(parse_seconds(text).value(), 1 / micro, text)](Choice& c) {
    c.decides.*limit = n;
  };
}
Setter set_burstiness(const std::string& text, Names&) {
  return [n = whole_parts(parse_positive(text), 1 / thousandth, text)](Choice& c) {
    c.decides.burstiness = n;
  };
}
Setter set_load_factor(const std::string& text, Names&) {
  return [n = whole_parts(parse_positive_share(text), 1 / thousandth, text)](Choice& c) {
    c.decides.load_factor = n;
  };
}
template <std::size_t extra>
Setter set_extra(const std::string& text, Names& names) {
  return [e = names.extra(extra_axes[extra].key, text)](Choice& c) { c.extras[extra] = e; };
}
Setter set_machine(const std::string& text, Names& names) {
  return [m = names.machine(text)](Choice& c) { c.decides.machine = m; };
}
/// No memory of any card is 0 bytes; what others come to depends on the card. Empty: not decided.
Setter set_budget(const std::string& text, Names&) {
  if (text.empty()) return [](Choice&) {};
  return [b = parse_budgets(text).first](Choice& c) {
    c.budget = b;
    if (b == Budget()) c.decides.gpu_budget = Bytes(0);
  };
}

constexpr AxisValues numbers = AxisValues::numbers, names = AxisValues::names;
constexpr Axis<Choice> all[] = {
    // constant: the help of sweep reads it before main
    {{"models", "", ""}, set_model},
    {{"precisions", "precision", "auto"}, set_precision},
    {{"kv_precisions", "kv_precision", "auto"}, set_kv_precision},
    {{"batches", "batch", "1", numbers}, nullptr, &Scenario::batch},
    {{"concurrencies", "concurrency", "", numbers}, set_concurrency, &Scenario::concurrency},
    {{"prompt_tokens", "prompt_tokens", "512", numbers}, nullptr, &Scenario::prompt_tokens},
    {{"output_tokens", "output_tokens", "128", numbers}, nullptr, &Scenario::output_tokens},
    {{"prompt_tokens_p95", "prompt_tokens_p95", "", numbers},
     nullptr,
     &Scenario::prompt_tokens_p95},
    {{"output_tokens_p95", "output_tokens_p95", "", numbers},
     nullptr,
     &Scenario::output_tokens_p95},
    {{"max_ttft_p95", "max_ttft_p95_s", "", names, 1, micro},
     set_limit<&Scenario::max_ttft_p95>,
     &Scenario::max_ttft_p95},
    {{"max_tpot_p95", "max_tpot_p95_s", "", names, 1, micro},
     set_limit<&Scenario::max_tpot_p95>,
     &Scenario::max_tpot_p95},
    {{"max_e2e_p99", "max_e2e_p99_s", "", names, 1, micro},
     set_limit<&Scenario::max_total_p99>,
     &Scenario::max_total_p99},
    {{"burstiness", "burstiness", "", names, 1, thousandth}, set_burstiness, &Scenario::burstiness},
    {{"load_factor", "load_factor", "", names, 1, thousandth},
     set_load_factor,
     &Scenario::load_factor},
    {{"contexts", "context", "", numbers}, nullptr, &Scenario::context},
    {{"runtimes", "", "transformers"}, set_runtime},
    {{"adapters", "served_adapters", ""}, set_extra<0>},
    {{"speculate", "speculate", ""}, set_extra<1>},
    {{"images", "images", ""}, set_extra<2>},
    {{"text_only", "text_only", ""}, set_extra<3>},
    {{"tp", "tensor_parallel", "", numbers}, nullptr, &Scenario::tensor_parallel},
    {{"pp", "pipeline_parallel", "", numbers}, nullptr, &Scenario::pipeline_parallel},
    {{"ep", "expert_parallel", "", numbers}, nullptr, &Scenario::expert_parallel},
    {{"dp", "data_parallel", "", numbers}, nullptr, &Scenario::data_parallel},
    {{"machines", "", ""}, set_machine},
    {{"gpu_budgets", "gpu_budget_bytes", "", AxisValues::budgets}, set_budget},
};

}  // namespace

std::span<const Axis<Choice>> inference_axes() { return all; }

const std::vector<const Axis<Choice>*>& number_axes() {
  static const std::vector<const Axis<Choice>*> rows = [] {
    std::vector<const Axis<Choice>*> found;
    for (const Axis<Choice>& axis : all)
      if (axis.number) found.push_back(&axis);
    return found;
  }();
  return rows;
}

}  // namespace headroom::sweep
