// Constants fitted to measurements, and how estimates fare on sources that they were not fitted to.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "model/constants_file.hpp"
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

/// The lines of engines of other families than `engines`.
std::string without(const std::string& constants, const std::set<std::string_view>& engines) {
  std::string text;
  const auto rows = model::policy_rows();
  model::for_lines(constants, [&](std::string_view line, int) {
    const auto row =
        std::ranges::find(rows, line.substr(0, line.find('\t')), &model::Runtime::name);
    if (!engines.contains(row->family)) text.append(line) += '\n';
  });
  return text;
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
  std::vector<std::vector<Subject>> engines;
  for (auto& [family, members] : families) engines.push_back(std::move(members));
  std::vector<std::vector<Score>> found(engines.size());
  tbb::parallel_for(std::size_t{0}, engines.size(), [&](std::size_t engine) {
    const auto& members = engines[engine];
    std::vector<model::Runtime> versions;
    for (const model::Runtime& row : model::policy_rows())
      if (row.family == members.front().scenario.runtime->family) versions.push_back(row);
    const auto ratios = left_out_ratios(versions, members);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (ratios[i])
        found[engine].push_back({.row = members[i].row,
                                 .group = members[i].group,
                                 .runtime = std::string(members[i].scenario.runtime->name),
                                 .measured = members[i].measured,
                                 .expected = members[i].measured / *ratios[i]});
  });
  std::vector<Score> scores;
  for (auto& each : found) std::ranges::move(each, std::back_inserter(scores));
  return scores;
}

std::vector<Score> left_out_scores(const std::vector<Measurement>& rows,
                                   const std::string& models_folder) {
  Subjects subjects(models_folder, model::policy_rows());
  const auto all = subjects_of(subjects, rows);
  std::map<std::string, int> sources;
  for (const Subject& each : all) ++sources[short_source((*each.row)["source"])];
  std::vector<const Subject*> pointers;
  for (const Subject& each : all) pointers.push_back(&each);
  const std::string from_all = fit(pointers, Intervals::no);
  // Sources of few rows are left out several at once.
  constexpr int few = 20, parts = 3;
  std::map<std::string, std::string> part_of;
  int small = 0;
  for (const auto& [source, n] : sources)
    part_of[source] = n < few ? fmt::format("{}", small++ % parts) : source;
  std::set<std::string> names;
  for (const auto& [source, part] : part_of) names.insert(part);
  const std::vector<std::string> left(names.begin(), names.end());
  std::vector<std::vector<Score>> found(left.size());
  tbb::parallel_for(std::size_t{0}, left.size(), [&](std::size_t i) {
    const auto belongs = [&](const Subject& each) {
      return part_of.at(short_source((*each.row)["source"])) == left[i];
    };
    std::set<std::string_view> engines;
    for (const Subject& each : all)
      if (belongs(each)) engines.insert(each.scenario.runtime->family);
    std::vector<const Subject*> others;
    for (const Subject& each : all)
      if (!belongs(each) && engines.contains(each.scenario.runtime->family))
        others.push_back(&each);
    const std::string constants = fit(others, Intervals::no) + without(from_all, engines);
    std::vector<model::Runtime> fitted = model::policy_rows();
    apply_measured(fitted, constants);
    for (Subject each : all) {
      if (!belongs(each)) continue;
      each.scenario.runtime =
          &*std::ranges::find(fitted, each.scenario.runtime->name, &model::Runtime::name);
      if (auto score = score_of(each)) found[i].push_back(std::move(*score));
    }
  });
  std::vector<Score> scores;
  for (auto& each : found) std::ranges::move(each, std::back_inserter(scores));
  for (Score& score : left_out_training(rows, models_folder)) scores.push_back(std::move(score));
  return scores;
}

}  // namespace headroom::sweep
