// Compares a model's rows with each other.
#include "report/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/answer/way_order.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

Grade best_grade(const ModelRow& line) { return grade(line.roomiest().estimate); }
Size weights(const ModelRow& line) { return line.roomiest().estimate.weights.count(); }
Size gpu_total(const ModelRow& line) { return line.gpus * line.gpu_memory; }

/// Time of a whole answer with its prompt; infinite where it does not run.
double answer_s(const ModelRow& line) {
  return best_grade(line) < Grade::does_not_fit ? line.roomiest().estimate.total.value()
                                                : std::numeric_limits<double>::infinity();
}

/// True if `a` is the better answer: on GPUs the larger precision, with offload the faster one.
bool better(const ModelRow& a, const ModelRow& b) {
  const bool on_gpus = best_grade(a) == Grade::on_gpus;
  if (on_gpus != (best_grade(b) == Grade::on_gpus)) return on_gpus;
  return on_gpus ? weights(a) > weights(b) : answer_s(a) < answer_s(b);
}

/// The best smaller precision that answers sooner; nullptr: none.
const ModelRow* smaller(std::span<const ModelRow* const> here, const ModelRow& from) {
  const ModelRow* best = nullptr;
  for (const ModelRow* line : here)
    if (weights(*line) < weights(from) && answer_s(*line) < answer_s(from) &&
        (!best || better(*line, *best)))
      best = line;
  return best;
}

std::string precision_advice(const ModelRow& from, const ModelRow& to) {
  const auto& before = from.roomiest().estimate;
  const auto& after = to.roomiest().estimate;
  std::string words = fmt::format("{}: {} → {}, {}", precision_label(to),
                                  shown(before.weights.real().value(), DisplayUnit::gib),
                                  gib(after.weights), verdict_words(to, to.roomiest()));
  if (best_grade(to) != Grade::on_gpus && before.tokens_s > 0)
    words += fmt::format(
        ", {} → {} tokens/s, {} → {} s an answer", shown(before.tokens_s, DisplayUnit::plain),
        shown(after.tokens_s, DisplayUnit::plain), shown(answer_s(from), DisplayUnit::seconds),
        shown(answer_s(to), DisplayUnit::seconds));
  return words;
}

/// The row of the engine's own start for one on the CPU alone, which may hold wider weights.
const ModelRow& with_cards(const ModelRow& from, std::span<const ModelRow* const> here) {
  if (from.roomiest().budget != Size{0}) return from;
  const auto row = std::ranges::find_if(here, [&](const ModelRow* line) {
    return line->runtime == from.runtime && line->as_published &&
           line->roomiest().budget != Size{0};
  });
  return row == here.end() ? from : **row;
}

std::string more_gpus(const ModelRow& from, std::span<const ModelRow* const> all) {
  const ModelRow* best = nullptr;
  for (const ModelRow* line : all)
    if (line->model == from.model && line->precision == from.precision &&
        best_grade(*line) == Grade::on_gpus && gpu_total(*line) > gpu_total(from) &&
        (!best || gpu_total(*line) < gpu_total(*best)))
      best = line;
  if (best)
    return fmt::format("more GPUs: {} {} on {}", from.held, verdict_words(*best, best->roomiest()),
                       best->machine);
  if (from.gpu_memory <= 0) return "";
  const auto& e = from.roomiest().estimate;
  const Size least = (e.weights + e.kv_cache).count() / from.gpu_memory + 1;
  return least > from.gpus ? fmt::format("more GPUs: at least {} like these", least) : "";
}

std::string shortage(const model::Estimate& e) {
  if (e.verdict != model::Verdict::does_not_fit) return "";
  if (e.reason == model::Reason::ram)
    return fmt::format("more CPU memory: {} short", gib(e.short_bytes));
  if (e.reason == model::Reason::disk)
    return fmt::format("more disk: {} short", gib(e.short_bytes));
  return "";
}

/// Output tokens a second: of decoding for one request, else of whole requests.
double rate_of(const ModelRow& row) {
  const model::Estimate& e = row.roomiest().estimate;
  return row.batch > 1 ? 1 / model::seconds_a_token(e) : e.tokens_s;
}

/// A machine of the run with fewer of these cards that serves more with the same engine and
/// weights, as `estimate` notes it. Its host may be another.
std::string fewer_gpus(const ModelRow& from, std::span<const ModelRow* const> all) {
  const ModelRow* best = nullptr;
  double most = model::worth_saying * rate_of(from);
  for (const ModelRow* row : all)
    if (row->gpus < from.gpus && row->model == from.model && row->held == from.held &&
        row->runtime == from.runtime && row->conditions == from.conditions &&
        best_grade(*row) == Grade::on_gpus &&
        kind_in_name(row->machine) == kind_in_name(from.machine) && rate_of(*row) > most) {
      best = row;
      most = rate_of(*row);
    }
  if (best == nullptr) return "";
  return fmt::format("fewer GPUs: {} tokens/s on {}, as cards wait for each other",
                     shown(most, DisplayUnit::plain), best->machine);
}

}  // namespace

std::string advice(const ModelRow& from, std::span<const ModelRow* const> here,
                   std::span<const ModelRow* const> all) {
  if (best_grade(from) == Grade::on_gpus) return fewer_gpus(from, all);
  if (best_grade(from) == Grade::refused)
    return std::string(reason_words(from.roomiest().estimate.reason));
  std::vector<std::string> words;
  const ModelRow* to = smaller(here, from);
  if (to) words.push_back(precision_advice(from, *to));
  if (!to || best_grade(*to) != Grade::on_gpus)
    words.push_back(more_gpus(with_cards(from, here), all));
  words.push_back(shortage(from.roomiest().estimate));
  const bool hopeless = std::ranges::all_of(
      here, [](const ModelRow* line) { return best_grade(*line) >= Grade::disk_offload; });
  if (hopeless) words.push_back("skip this model here");
  std::string joined;
  for (const auto& w : words)
    if (!w.empty()) joined += (joined.empty() ? "" : "; ") + w;
  return joined;
}

}  // namespace headroom::report
