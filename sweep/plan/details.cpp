// Every figure of a plan's answer, for --details.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/screen.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/demand_words.hpp"
#include "sweep/screen/money.hpp"

namespace headroom::sweep {
namespace {

using model::Target;

std::string combination(const Candidate& c) {
  std::string text = fmt::format("{} in {} on {}", c.weights->model->name,
                                 way_words(*c.weights, *c.engine), c.machine->name);
  if (c.acquisition) text += fmt::format(" ({})", model::name_of(*c.acquisition));
  return text;
}

std::string rate_words(double rate, const model::Interval& time, const Target& target) {
  const auto number = [](double value) {
    return value < 1000 ? fmt::format("{:.3g}", value) : grouped(std::llround(value));
  };
  return target.strict ? fmt::format("{} (low end {})", number(rate), number(rate / time.high))
                       : number(rate);
}

std::string served(const Candidate& c, const Target& target) {
  const model::Estimate& e = c.serving.estimate;
  const model::Service& seen = c.serving.service;
  std::string text = fmt::format(
      "{} of {}, {} each, context {}",
      c.serving.attention > 1 ? fmt::format("{} replicas of the attention", c.serving.replicas)
                              : counted(c.serving.replicas, "copy"),
      counted(c.serving.cards, "card"), grouped(c.serving.batch, "sequence"),
      grouped(c.serving.context));
  text += fmt::format("; first token {}, per token {}, {} tokens/s, {} requests/s; {}{}",
                      time_words(seen.ttft, seen.first, target),
                      time_words(seen.tpot, seen.step, target),
                      rate_words(tokens_s(c), c.decodes ? seen.step : seen.time, target),
                      rate_words(requests_s(c), seen.time, target), model::name_of(e.verdict),
                      c.tight ? ", tight" : "");
  return text;
}

/// Latency at the demand, if the answer could serve more.
std::string demand_words(const Candidate& c, const Target& target) {
  if (c.demand.requests == 0) return {};
  const model::Service& seen = c.demand.service;
  return fmt::format("{} each; first token {}, per token {}, {} tokens/s each",
                     grouped(c.demand.requests, "sequence"),
                     time_words(seen.ttft, seen.first, target),
                     time_words(seen.tpot, seen.step, target),
                     rate_words(1 / seen.tpot.value(), seen.step, target));
}

std::string costs(const Candidate& c, std::string_view currency) {
  if (!c.per_hour) return {};
  std::string text = money(*c.per_hour, currency) + " an hour";
  if (c.purchase) text += fmt::format(", {} to buy", money(*c.purchase, currency));
  if (c.tokens)
    text += fmt::format("; a million tokens: {:.4g} in, {:.4g} out", c.tokens->input_per_million,
                        c.tokens->output_per_million);
  return text;
}

}  // namespace

std::string plan_details(const PlanScreen& screen) {
  const auto& candidates = screen.candidates;
  const Target& target = screen.target;
  const std::string_view currency = screen.prices ? screen.prices->currency : std::string_view();
  const Candidate& best = candidates.front();
  std::string text;
  const auto line = [&](std::string_view name, const std::string& what) {
    if (!what.empty()) text += fmt::format("{:<11} {}\n", name, what);
  };
  const auto assumptions = [&] {
    if (!screen.strict_answer.empty()) line("Strict", screen.strict_answer);
    for (const auto& each : screen.left_out) line("Left out", each);
    for (const auto& each : screen.assumed) line("Assumes", each);
    line("Prices", price_words(screen));
    return text;
  };
  if (!best.qualifies()) {
    line("Answer", fmt::format("no combination qualifies ({} tried)", candidates.size()));
    line("Closest", combination(best) + ": " + words_of(best.serving.next));
    return assumptions();
  }
  text = fmt::format("Question    {}\n", screen.question.meaning);
  line("Answer", combination(best));
  line("Serves", served(best, target));
  line("At demand", demand_words(best, target));
  line("Slowest", slowest_words(best, target));
  line("Costs", costs(best, currency));
  const auto qualifying = std::ranges::count_if(candidates, &Candidate::qualifies);
  line("Runner-up", qualifying > 1
                        ? combination(candidates[1]) + ": " + served(candidates[1], target)
                        : std::string("none: nothing else qualifies"));
  if (qualifying > 1) line("", costs(candidates[1], currency));
  if (best.more) line("More", combination(*best.more) + ": " + served(*best.more, target));
  line("Measured", measured_line(running_way(best)));
  line("Binds", words_of(best.serving.next));
  std::string left = fmt::format("{} free on the most loaded card", to_text(best.room));
  if (target.users > 0)
    left += fmt::format("; {} beyond those asked for",
                        grouped(fleet_users(best) - target.users, "user"));
  line("Room", left);
  line("Machines", spares_words(best));
  return assumptions();
}

}  // namespace headroom::sweep
