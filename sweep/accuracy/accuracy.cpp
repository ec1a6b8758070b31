#include "sweep/accuracy/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/units.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "sweep/accuracy/contradictions.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/published_sizes.hpp"
#include "sweep/accuracy/quantile.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {
namespace {

constexpr auto names = std::to_array<std::string_view>(
    {"inference_memory",   "cache_per_token",        "cache_left",
     "cache_tokens",       "cache_concurrency",      "card_left",
     "logged_weights",     "quantised_size",         "decode_single",
     "decode_layer_split", "decode_tensor_parallel", "prefill",
     "serving_tpot",       "serving_ttft",           "serving_throughput",
     "speculative",        "offload_partial",        "offload_streamed",
     "load_time",          "training_memory",        "training_time"});

/// "grade: C, the set-up is incomplete" of a row that says what it lacks has the reason "grade".
Unscored unscored(const Measurement& row, const Skipped& skipped) {
  const std::string text = skipped.what();
  const auto colon = text.find(": ");
  if (skipped.reason != Skip::missing || colon == std::string::npos)
    return {&row, false, std::string(name_of(skipped.reason)), text};
  return {&row, false, "missing " + text.substr(0, colon), text.substr(colon + 2)};
}

/// Collects scores, labels and what has neither.
class Scorer {
 public:
  Scorer(Accuracy& out, const std::string& models_folder)
      : out_(out), subjects_(models_folder), training_(models_folder) {}

  void add(const Measurement& row) {
    try {
      require_complete(row);
      if (row["kind"] == "size")
        add_size(row);
      else if (is_training(row))
        row["outcome"].empty() ? add_training(row) : add_training_label(row);
      else if (!row["outcome"].empty())
        add_label(row);
      else
        figures_.push_back(subjects_.subject(row));
    } catch (const Skipped& skipped) {
      out_.unscored.push_back(unscored(row, skipped));
    }
  }

  /// For figures that other rows can contradict.
  void finish() {
    const auto contradictions = contradicted(figures_);
    for (const ScoredRow& each : figures_)
      if (const auto at = contradictions.find(each.row); at != contradictions.end())
        out_.unscored.push_back(
            {each.row, false, std::string(name_of(at->second.reason)), at->second.detail});
      else
        add_figure(each);
  }

 private:
  void not_estimated(const Measurement& row, std::string why) {
    out_.unscored.push_back({&row, true, "eligible, but not estimated", std::move(why)});
  }

  void add_figure(const ScoredRow& subject) {
    std::string why;
    if (auto score = score_of(subject, &why))
      out_.scores.push_back(std::move(*score));
    else
      not_estimated(*subject.row, why);
  }

  void add_training(const Measurement& row) {
    try {
      out_.scores.push_back(training_.score(row));
    } catch (const std::invalid_argument& impossible) {
      not_estimated(row, impossible.what());
    }
  }

  void add_training_label(const Measurement& row) {
    try {
      out_.labels.push_back(training_.label(row));
    } catch (const std::invalid_argument& impossible) {
      not_estimated(row, impossible.what());
    }
  }

  void add_size(const Measurement& row) {
    const PublishedSize size = published_size(row, subjects_.model(row["model"]));
    out_.scores.push_back({.row = &row,
                           .group = "quantised_size",
                           .runtime = {},
                           .measured = size.published,
                           .expected = (size.low + size.high) / 2,
                           .low = size.low - size.tolerance,
                           .high = size.high + size.tolerance,
                           .plain = size.nominal});
  }

  /// Caches of so many tokens: of as few sequences as have them where one is no longer than the
  /// context that the row states.
  static void hold_tokens(model::Scenario& s, Size tokens) {
    s.batch = s.context > 0 && tokens > s.context ? divided_up(tokens, s.context) : 1;
    s.context = tokens / s.batch;
    if (s.context < s.prompt_tokens + s.output_tokens)
      s.prompt_tokens = std::max<Size>(1, s.context - s.output_tokens);
  }

  void add_label(const Measurement& row) {
    model::Scenario s = subjects_.labelled(row);
    if (row["outcome"] == "max") {
      const auto value = row.number("value");
      if (!value) throw Skipped(Skip::statistic, "no value");
      if (row["figure"] == "max_batch")
        s.batch = static_cast<Size>(*value);
      else if (row["figure"] == "max_context" || row["figure"] == "kv_cache_tokens")
        hold_tokens(s, static_cast<Size>(*value));
      else
        throw Skipped(Skip::statistic, row["figure"]);
    }
    // Refusals for other reasons say nothing of memory. More cards than the row has: SGLang's
    // attention by data parallel, which is not described.
    if (const auto refused = place(s, 1.0);
        !refused.feasible() && !model::is_of_memory(refused.reason) &&
        (row["outcome"] == "oom" || refused.reason == model::Reason::not_enough_gpus))
      throw Skipped(Skip::feature, std::string(name_of(refused.reason)));
    // The row says which layers are in host memory, or that some may be.
    const bool elsewhere =
        s.machine->devices.empty() || s.layer_split != nullptr || row.says("offload");
    // The answer that a person gets. It may offload what the row has on cards, and refuses what a
    // fork of the engine runs.
    const model::Estimate e = evaluate(s);
    Label label{.row = &row,
                .group = "fit_verdict",
                .runtime = std::string(s.runtime->name),
                .fitted = row["outcome"] != "oom",
                .expected = runs(s, 1.0, elsewhere)};
    const model::Interval memory = model::interval_factors(*s.runtime).memory;
    if (e.verdict == model::Verdict::refused || (!label.expected && model::fits(e.verdict)))
      label.sure =
          label.expected ? runs(s, memory.high, elsewhere) : !runs(s, memory.low, elsewhere);
    else
      label.sure = e.sure != model::Confidence::marginal;
    label.load = load_of(s);
    out_.labels.push_back(label);
  }

  Accuracy& out_;
  Subjects subjects_;
  std::vector<ScoredRow> figures_;
  TrainingMeasurements training_;
};

}  // namespace

std::span<const std::string_view> group_names() { return names; }

GroupUnit unit_of(std::string_view group) {
  constexpr std::string_view of_bytes[] = {"inference_memory", "cache_per_token", "cache_left",
                                           "card_left",        "logged_weights",  "quantised_size",
                                           "training_memory"};
  if (group == "cache_tokens") return GroupUnit::tokens;
  if (group == "cache_concurrency") return GroupUnit::requests;
  return std::ranges::find(of_bytes, group) != std::end(of_bytes) ? GroupUnit::bytes
                                                                  : GroupUnit::seconds;
}

std::optional<Score> score_of(const ScoredRow& subject, std::string* why) {
  std::string reason;
  const auto found = predict(subject, reason);
  if (why) *why = reason;
  if (!found) return std::nullopt;
  const model::Interval interval = shown_interval(subject);
  return Score{.row = subject.row,
               .group = subject.group,
               .runtime = std::string(subject.scenario.runtime->name),
               .measured = subject.measured,
               .expected = *found,
               .low = *found * interval.low,
               .high = *found * interval.high,
               .plain = plain(subject)};
}

std::vector<const Score*> members_of(std::string_view group, const std::vector<Score>& scores) {
  std::vector<const Score*> members;
  for (const Score& each : scores)
    if (each.group == group) members.push_back(&each);
  return members;
}

GroupFigures figures_of(std::string name, const std::vector<const Score*>& scores) {
  GroupFigures group{.name = std::move(name)};
  group.n = static_cast<int>(scores.size());
  if (scores.empty()) return group;
  std::vector<double> errors, sizes, widths, ratios;
  int covered = 0;
  for (const Score* each : scores) {
    errors.push_back(each->error());
    sizes.push_back(std::abs(each->error()));
    widths.push_back((each->high - each->low) / each->expected);
    ratios.push_back(each->plain / each->measured);
    covered += each->covered();
  }
  group.median = quantile(sizes, 0.5);
  group.p90 = quantile(sizes, 0.9);
  group.bias = quantile(errors, 0.5);
  group.coverage = static_cast<double>(covered) / group.n;
  group.interval_width = quantile(widths, 0.5);
  // A rate is a share of the hardware's; sizes are what they are.
  const double efficiency = unit_of(group.name) == GroupUnit::seconds ? quantile(ratios, 0.5) : 1;
  for (double& ratio : ratios) ratio = std::abs(ratio / efficiency - 1);
  group.plain_median = quantile(ratios, 0.5);
  group.plain_p90 = quantile(ratios, 0.9);
  return group;
}

LabelFigures figures_of(std::string name, const std::vector<const Label*>& labels) {
  LabelFigures group{.name = std::move(name)};
  group.n = static_cast<int>(labels.size());
  if (labels.empty()) return group;
  int wrong = 0, marginal = 0, fitted = 0, said = 0, both = 0;
  for (const Label* each : labels) {
    marginal += !each->sure;
    wrong += each->sure && each->expected != each->fitted;
    fitted += each->fitted;
    said += each->expected;
    both += each->fitted && each->expected;
  }
  group.wrong_sure = static_cast<double>(wrong) / group.n;
  group.marginal = static_cast<double>(marginal) / group.n;
  group.precision = said > 0 ? static_cast<double>(both) / said : 1;
  group.recall = fitted > 0 ? static_cast<double>(both) / fitted : 1;
  return group;
}

std::vector<GroupFigures> groups_of(const std::vector<Score>& scores) {
  std::vector<GroupFigures> all;
  for (const std::string_view name : names)
    if (const auto members = members_of(name, scores); !members.empty())
      all.push_back(figures_of(std::string(name), members));
  return all;
}

std::vector<GroupFigures> Accuracy::groups() const { return groups_of(scores); }

std::vector<LabelFigures> Accuracy::label_groups() const {
  std::vector<LabelFigures> all;
  for (const std::string name : {"fit_verdict", "training_verdict"}) {
    std::vector<const Label*> every, near;
    for (const Label& each : labels) {
      if (each.group != name) continue;
      every.push_back(&each);
      if (each.near()) near.push_back(&each);
    }
    if (every.empty()) continue;
    all.push_back(figures_of(name, every));
    all.push_back(figures_of(name + "_near", near));
  }
  return all;
}

int Accuracy::eligible() const {
  const auto left = std::ranges::count_if(unscored, [](const Unscored& u) { return !u.eligible; });
  return static_cast<int>(rows.size()) - static_cast<int>(left);
}

Accuracy score(const std::vector<std::string>& files, const std::string& models_folder) {
  Accuracy out;
  for (const std::string& file : files)
    for (Measurement& row : read_measurements(file)) out.rows.push_back(std::move(row));
  Scorer scorer(out, models_folder);
  for (const Measurement& row : out.rows) scorer.add(row);
  scorer.finish();
  return out;
}

}  // namespace headroom::sweep
