// Constants fitted to measurements, and how estimates fare on sources and models that they were not
// fitted to.
#include <algorithm>
#include <iterator>

#include "model/engine/engine_rows.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/contradictions.hpp"
#include "sweep/accuracy/fit.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/training/fit.hpp"

namespace headroom::sweep {
namespace {

/// What can be estimated of `rows`, by engines whose constants are not measured.
std::vector<ScoredRow> subjects_of(Subjects& subjects, const std::vector<Measurement>& rows) {
  std::vector<ScoredRow> all;
  for (const Measurement& row : rows) {
    if (!row["outcome"].empty() || row["kind"] != "inference") continue;
    try {
      all.push_back(subjects.subject(row));
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

std::string fitted_constants(const std::vector<std::string>& files,
                             const std::string& models_folder) {
  std::vector<Measurement> rows;
  for (const std::string& file : files)
    for (Measurement& row : read_measurements(file)) rows.push_back(std::move(row));
  if (std::ranges::all_of(rows, is_training_time))
    return fitted_training_paces(rows, models_folder);
  Subjects subjects(models_folder, model::policy_rows());
  return Fit(subjects_of(subjects, rows)).lines();
}

void leave_out(Accuracy& accuracy, const std::string& models_folder) {
  Subjects subjects(models_folder, model::policy_rows());
  Fit fit(subjects_of(subjects, accuracy.rows));
  const auto inference = [&](const Folds& folds) {
    return scores_of(fit.subjects(), fit.left_out(folds));
  };
  accuracy.left_out = {
      {"without_set_up",
       "Each twentieth of the set-ups (a model on a card, as one source measured it) by constants "
       "that were fitted to the others",
       inference(folds_by_set_up(fit.subjects()))},
      {"without_model", "Each third of the models by constants that were fitted to the others",
       inference(folds_by_model(fit.subjects()))},
      {"without_source", "Each source by constants that were fitted to all other sources",
       inference(folds_by_source(fit.subjects()))}};
  std::ranges::move(left_out_times(accuracy.rows, models_folder, folds_by_set_up),
                    std::back_inserter(accuracy.left_out.front().scores));
  std::ranges::move(left_out_training(accuracy.rows, models_folder),
                    std::back_inserter(accuracy.left_out.back().scores));
}

}  // namespace headroom::sweep
