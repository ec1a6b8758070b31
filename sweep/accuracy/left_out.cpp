// Constants fitted to measurements, and how estimates fare on sources that they were not fitted to.
#include <algorithm>
#include <map>
#include <set>

#include "model/runtime_measured.hpp"
#include "model/runtime_rows.hpp"
#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/fit.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/training/fit.hpp"

namespace headroom::sweep {
namespace {

/// What can be estimated of `rows`, by engines whose constants are not measured.
std::vector<Subject> subjects_of(Subjects& subjects, const std::vector<Measurement>& rows) {
  std::vector<Subject> all;
  for (const Measurement& row : rows) {
    if (!row["outcome"].empty() || !row["quant"].empty() || is_training(row)) continue;
    try {
      all.push_back(subjects.subject(row));
    } catch (const Skipped&) {
      // Scoring says why.
    }
  }
  return all;
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
  const auto all = subjects_of(subjects, rows);
  std::vector<const Subject*> pointers;
  for (const Subject& each : all) pointers.push_back(&each);
  return fit(pointers);
}

std::vector<Score> left_out_model_scores(const std::vector<Measurement>& rows,
                                         const std::string& models_folder) {
  Subjects subjects(models_folder, model::policy_rows());
  const auto all = subjects_of(subjects, rows);
  std::map<std::string_view, std::vector<Subject>> families;
  for (const Subject& each : all) families[each.scenario.runtime->family].push_back(each);
  std::vector<Score> scores;
  for (const auto& [family, members] : families) {
    std::vector<model::Runtime> versions;
    for (const model::Runtime& row : model::policy_rows())
      if (row.family == family) versions.push_back(row);
    const auto ratios = left_out_ratios(versions, members);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (ratios[i])
        scores.push_back({.row = members[i].row,
                          .group = members[i].group,
                          .runtime = std::string(members[i].scenario.runtime->name),
                          .measured = members[i].measured,
                          .expected = members[i].measured / *ratios[i]});
  }
  return scores;
}

std::vector<Score> left_out_scores(const std::vector<Measurement>& rows,
                                   const std::string& models_folder) {
  Subjects subjects(models_folder, model::policy_rows());
  const auto all = subjects_of(subjects, rows);
  std::set<std::string> sources;
  for (const Subject& each : all) sources.insert(short_source((*each.row)["source"]));
  std::vector<Score> scores;
  for (const std::string& source : sources) {
    const auto belongs = [&](const Subject& each) {
      return short_source((*each.row)["source"]) == source;
    };
    std::set<std::string_view> engines;
    for (const Subject& each : all)
      if (belongs(each)) engines.insert(each.scenario.runtime->name);
    std::vector<const Subject*> others;
    for (const Subject& each : all)
      if (!belongs(each) && engines.contains(each.scenario.runtime->name)) others.push_back(&each);
    const std::string constants = fit(others, Intervals::no);
    std::vector<model::Runtime> fitted = model::policy_rows();
    apply_measured(fitted, constants);
    for (Subject each : all) {
      if (!belongs(each)) continue;
      each.scenario.runtime =
          &*std::ranges::find(fitted, each.scenario.runtime->name, &model::Runtime::name);
      if (auto score = score_of(each)) scores.push_back(std::move(*score));
    }
  }
  for (Score& score : left_out_training(rows, models_folder)) scores.push_back(std::move(score));
  return scores;
}

}  // namespace headroom::sweep
