#include "sweep/screen/predictor_note.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/options/speculation.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// The ratio of decode steps for several sequences: what is served depends on prefill too.
std::string faster_words(const model::Scenario& with, const model::Estimate& e,
                         const model::Estimate& plain) {
  const model::Interval of = model::interval_factors(with).times(e).tpot;
  const double ratio = e.tokens_s / plain.tokens_s;
  if (with.batch > 1)
    return fmt::format("would decode {:.2f} times as fast ({:.2f} to {:.2f})", ratio,
                       ratio / of.high, ratio / of.low);
  return fmt::format("would give {} tokens/s ({} to {}) instead of {}", three_digits(e.tokens_s),
                     three_digits(e.tokens_s / of.high), three_digits(e.tokens_s / of.low),
                     three_digits(plain.tokens_s));
}

}  // namespace

std::optional<std::string> predictor_note(const model::Scenario& s, const model::Estimate& plain) {
  const Size modules = s.weights->model->multi_token_prediction.modules;
  if (modules == 0 || s.draft != nullptr || !fits(plain)) return std::nullopt;
  const std::string has = fmt::format("the checkpoint has {} that predict{} further tokens (MTP)",
                                      counted(modules, "module"), modules == 1 ? "s" : "");
  constexpr Size most = 4;
  std::string why, best;
  double most_s = 0;
  bool slower = false;
  for (Size tokens = 1; tokens <= most; ++tokens) try {
      const Speculation asked{
          .proposer = model::Proposer::modules, .model = {}, .tokens = tokens, .acceptance = {}};
      const auto given = make_draft(asked, s, nullptr);
      model::Scenario with = s;
      with.draft = &given->draft;
      if (given->engine) with.runtime = given->engine.get();
      const model::Estimate e = evaluate(with);
      if (!fits(e)) {
        if (why.empty()) why = "with them it does not fit";
        continue;
      }
      slower = slower || e.tokens_s <= plain.tokens_s;
      if (e.tokens_s <= std::max(most_s, plain.tokens_s)) continue;
      most_s = e.tokens_s;
      const model::Acceptance kept = shares_kept(*given);
      best = fmt::format(
          "--speculate {} {}, if {:.0f} % ({:.0f} to {:.0f} %) of proposed tokens are kept; they "
          "take {}",
          asked.text(), faster_words(with, e, plain), 100 * kept.expected, 100 * kept.low,
          100 * kept.high, to_text(given->weights->total));
    } catch (const std::invalid_argument& e) {
      if (why.empty()) why = e.what();
    }
  if (best.empty() && slower)
    return std::string("with the checkpoint's MTP modules it would not be faster here");
  if (best.empty() && why.empty()) return std::nullopt;
  return fmt::format("{}; {}", has, best.empty() ? why : best);
}

}  // namespace headroom::sweep
