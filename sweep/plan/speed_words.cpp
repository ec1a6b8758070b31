#include "sweep/plan/speed_words.hpp"

#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "model/infer/usable_speed.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

/// "5 tokens/s".
std::string speed_words(Seconds tpot) {
  const std::string speed = three_digits(1 / tpot.value());
  return fmt::format("{} token{}/s", speed, speed == "1" ? "" : "s");
}

}  // namespace

std::string unsuitable_words(const PlanScreen& screen, const Candidate& c) {
  constexpr Size most_machines = 32;
  std::string why;
  if (c.machines > most_machines) why = fmt::format("{} machines to run", c.machines);
  const model::Service& seen = c.demand.requests > 0 ? c.demand.service : c.serving.service;
  const double speed = 1 / seen.tpot.value();
  if (fleet_users(c) > 1 && !screen.target.tpot && speed < model::reading_tokens_s)
    why += fmt::format("{}{} tokens/s a user; --max-tpot limits", why.empty() ? "" : ", ",
                       three_digits(speed));
  return why.empty() ? why : "Unsuitable (" + why + "). ";
}

std::string limit_words(const PlanScreen& screen, const model::Shortfall& missed) {
  const Candidate& best = screen.candidates.front();
  const Size batch = best.qualifies() ? best.serving.batch + 1 : 1;
  const auto limit = screen.target.tpot_limit(batch);
  if (missed.miss != model::Miss::tpot || !screen.target.has_usual_tpot() || !limit)
    return words_of(missed);
  if (best.qualifies())
    return fmt::format("the speed, at least {} for each (--max-tpot)", speed_words(*limit));
  const Seconds found(missed.times * limit->value());
  return fmt::format(
      "{}, {} (--max-tpot)",
      found.value() * model::usable_tokens_s > 1 ? "too slow to use" : "slower than people read",
      token_time_words(found));
}

std::string user_speed_words(const model::Service& seen) {
  const double speed = 1 / seen.tpot.value();
  if (speed >= 2 * model::reading_tokens_s) return {};
  return fmt::format(": {}{} tokens/s a user", speed < model::reading_tokens_s ? "only " : "",
                     three_digits(speed));
}

std::string least_speed_words(const model::Target& target, std::string_view option) {
  const auto alone = target.tpot_limit(1), shared = target.tpot_limit(2);
  if (!target.has_usual_tpot() || !alone || !shared) return {};
  if (*alone == *shared) return fmt::format("at least {} ({})", speed_words(*alone), option);
  return fmt::format("at least {} for one sequence, {} for each of several ({})",
                     speed_words(*alone), speed_words(*shared), option);
}

}  // namespace headroom::sweep
