#include "bench/fit/left_out.hpp"

#include <algorithm>
#include <iterator>

#include "bench/fit/fit.hpp"
#include "bench/fit/training_fit.hpp"
#include "model/engine/policy_rows.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/cache_figures.hpp"
#include "sweep/accuracy/contradictions.hpp"
#include "sweep/accuracy/prediction.hpp"

namespace headroom::sweep {
namespace {

/// Rows of `rows` that can be estimated, by engines without measured constants. Steps with a draft
/// depend on the share of its tokens that are kept, and are evidence of no constant.
std::vector<ScoredRow> subjects_of(Subjects& subjects, const std::vector<Measurement>& rows) {
  std::vector<ScoredRow> all;
  for (const Measurement& row : rows) {
    if (!row["outcome"].empty() || row["kind"] != "inference") continue;
    try {
      ScoredRow subject = subjects.subject(row);
      const bool counts = !is_of_start_log(subject.statistic) || is_left(subject.statistic);
      if (counts && subject.scenario.draft == nullptr) all.push_back(std::move(subject));
    } catch (const Skipped&) {
      // Scoring says why.
    }
  }
  const auto contradictions = contradicted(all);
  std::erase_if(all, [&](const ScoredRow& each) { return contradictions.contains(each.row); });
  return all;
}

/// With the intervals that are shipped, around what is expected.
std::vector<Score> scores_of(const std::vector<ScoredRow>& subjects,
                             const std::vector<std::optional<double>>& expected) {
  std::vector<Score> scores;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (!expected[i]) continue;
    ScoredRow shipped = subjects[i];
    shipped.scenario.runtime = &model::engine(shipped.scenario.runtime->name);
    const model::Interval interval = shown_interval(shipped);
    scores.push_back({.row = shipped.row,
                      .group = shipped.group,
                      .runtime = std::string(shipped.scenario.runtime->name),
                      .measured = shipped.measured,
                      .expected = *expected[i],
                      .low = *expected[i] * interval.low,
                      .high = *expected[i] * interval.high});
  }
  return scores;
}

}  // namespace

std::vector<FittedFile> fitted_constants(const std::vector<std::string>& files,
                                         const std::string& models_folder) {
  std::vector<Measurement> rows;
  for (const std::string& file : files)
    for (Measurement& row : read_measurements(file)) rows.push_back(std::move(row));
  if (std::ranges::all_of(rows, is_training_time))
    return {{"training_pace.tsv", fitted_training_paces(rows, models_folder)}};
  Subjects subjects(models_folder, model::policy_rows());
  Fit fit(subjects_of(subjects, rows));
  return {{"constants.tsv", fit.lines()},
          {"effects.tsv", fit.effects()},
          {"measured_cards.tsv", fit.cards()}};
}

namespace {

/// Engines with constants fitted to what can be estimated of the rows.
class LeavingOut {
 public:
  LeavingOut(const Accuracy& accuracy, const std::string& models_folder)
      : rows_(accuracy.rows),
        folder_(models_folder),
        subjects_(models_folder, model::policy_rows()),
        fit_(subjects_of(subjects_, accuracy.rows)) {}

  LeftOut set_ups() {
    LeftOut found{"without_set_up",
                  "Each twentieth of the set-ups (a model on a card, as one source measured it), "
                  "by constants "
                  "that were fitted to the others",
                  inference(folds_by_set_up(fit_.subjects()))};
    std::ranges::move(left_out_times(rows_, folder_, folds_by_set_up),
                      std::back_inserter(found.scores));
    return found;
  }
  LeftOut models() {
    return {"without_model",
            "Each third of the models, by constants that were fitted to the others",
            inference(folds_by_model(fit_.subjects()))};
  }
  LeftOut sources() {
    LeftOut found{
        "without_source",
        "Each source, by constants that were fitted to all other sources. These errors may "
        "rise by two points at most",
        inference(folds_by_source(fit_.subjects()))};
    std::ranges::move(left_out_training(rows_, folder_), std::back_inserter(found.scores));
    return found;
  }

 private:
  std::vector<Score> inference(const Folds& folds) {
    return scores_of(fit_.subjects(), fit_.left_out(folds));
  }

  const std::vector<Measurement>& rows_;
  const std::string& folder_;
  Subjects subjects_;
  Fit fit_;
};

}  // namespace

void leave_out(Accuracy& accuracy, const std::string& models_folder) {
  LeavingOut without(accuracy, models_folder);
  accuracy.left_out = {without.set_ups(), without.models(), without.sources()};
}

void leave_out_sources(Accuracy& accuracy, const std::string& models_folder) {
  accuracy.left_out = {LeavingOut(accuracy, models_folder).sources()};
}

}  // namespace headroom::sweep
