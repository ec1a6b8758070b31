#include "sweep/accuracy/finite_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/infer/memory/activation.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/traffic.hpp"

namespace headroom::sweep {

std::optional<double> run_seconds(const model::Scenario& asked, Size requests) {
  const Size running = model::traffic(asked).running;
  if (running == 0) return std::nullopt;
  model::Scenario s = asked;
  s.batch = running;
  const model::Plan plan = place(s, 1.0);
  const model::CachedTokens cached{.self = s.prompt_tokens + s.output_tokens};
  const auto step = [&](double n) {
    s.batch = std::max<Size>(1, std::llround(n));
    return decode_step(s, plan, cached).total.value();
  };
  const auto all = static_cast<double>(running), sent = static_cast<double>(requests);
  const auto mean = static_cast<double>(s.output_tokens);
  // Trapezoids over ln n.
  const int parts = std::max(1, static_cast<int>(std::ceil(std::log2(all))));
  double tail = 0;
  for (int i = 0; i <= parts; ++i)
    tail += step(std::pow(all, static_cast<double>(i) / parts)) * (i == 0 || i == parts ? 0.5 : 1);
  tail *= std::log(all) / parts;
  const Size chunk = model::prefill_chunk(s);
  s.batch = std::clamp<Size>(chunk / s.prompt_tokens, 1, running);
  const double prompt =
      prefill(s, plan, s.prompt_tokens).total.value() / static_cast<double>(s.batch);
  return (sent - all) / all * mean * step(all) + mean * tail + sent * prompt;
}

std::optional<double> share_together(const Measurement& row, Size batch) {
  if (row["requests"] == "steady") return 0;
  const std::optional<double> requests = row.number("requests");
  if (!requests || *requests <= 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(batch) / *requests);
}

}  // namespace headroom::sweep
