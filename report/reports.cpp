// Collects what the documents need, writes them all, and the page that links them.
#include "report/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "model/infer/estimate.hpp"
#include "report/chosen_figures.hpp"
#include "report/csv.hpp"
#include "report/diff.hpp"
#include "report/document.hpp"
#include "report/nights.hpp"
#include "report/plot.hpp"
#include "report/report_mark.hpp"
#include "report/training_chart.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {
namespace {

/// Removes files in the folders of the reports that are not of this run.
void remove_others(const std::filesystem::path& folder, const Written& written) {
  const std::set<std::filesystem::path> ours(written.files.begin(), written.files.end());
  std::error_code error;
  for (const auto& file : files_there(folder))
    if (file.has_parent_path() && !ours.contains(file))
      std::filesystem::remove(folder / file, error);
}

/// "chosen-gz": which reports are written of a run. Curves without gnuplot are scripts alone.
std::string form_of(Figures figures, CsvFile csv) {
  constexpr std::string_view words[] = {"chosen", "all", "no-curves"};
  return fmt::format("{}-{}{}", words[static_cast<std::size_t>(figures)],
                     csv_file_words[static_cast<std::size_t>(csv)],
                     figures == Figures::skip || gnuplot_found() ? "" : "-scripts");
}

/// Draws both into curves/, and notes it where gnuplot is missing.
void draw_curves(const std::vector<Figure>& figures, const std::vector<Drawing>& bars,
                 const std::filesystem::path& folder, Written& written) {
  for (const auto& file : draw(figures, folder / "curves"))
    written.files.push_back("curves" / file);
  for (const auto& file : draw(bars, folder / "curves")) written.files.push_back("curves" / file);
  if (!(figures.empty() && bars.empty()) && !gnuplot_found())
    written.notes.emplace_back(
        "gnuplot was not found, so the curves are not drawn; once it is installed, run it on the "
        ".gp files in curves/");
}

/// The marked inputs, for a run of which nobody says what it was made from. Program and database
/// must be as marked, and the run the marked one or the latest.
std::string inputs_of(const ReportMark& now, const std::optional<ReportMark>& earlier,
                      const Database& database) {
  const bool same = earlier && !now.source.empty() && earlier->source == now.source &&
                    (earlier->run == now.run || database.latest_run() == now.run);
  return same ? earlier->inputs : std::string(ReportMark::none);
}

void remove_scripts(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& file : files_there(folder))
    if (file.extension() == ".gp") std::filesystem::remove(folder / file, error);
}

/// Compatibility, machines, precisions and training. `add` writes a file by its name.
template <class Add>
void add_tables(const Source& source, const TableBlock& overview,
                const std::vector<TrainingLine>& trained, const Add& add) {
  if (!source.lines.empty() || trained.empty()) {
    add("compatibility.md", to_markdown(compatibility_document(source, overview)));
    for (const auto& [file, document] : machine_documents(source))
      add(file.generic_string(), to_markdown(document));
    std::ostringstream csv_text;
    write_csv(csv_text, compatibility_table(source));
    add("compatibility.csv", csv_text.view());
    add("precision.md", to_markdown(precision_document(source)));
  }
  if (!trained.empty())
    add("training.md",
        to_markdown(Document().heading(1, "Training").append(training_document(source, trained))));
}

/// Throws as source_of() does.
Source source_without_lines(const Database& database, std::int64_t run) {
  Source source{&database, {}, Axes(database.run(run)), {}, {}, csv_file_name(CsvFile::plain)};
  source.run = database.summary(run);
  if (!source.run.complete())
    throw StoreError(source.run.finished.empty()
                         ? fmt::format("run {} is not complete; finish the sweep first", run)
                         : fmt::format("run {} is a shard; headroom merge unites them", run));
  return source;
}

}  // namespace

Source source_of(const Database& database, std::int64_t run) {
  Source source = source_without_lines(database, run);
  source.lines = lines_of(database, source.axes, run);
  source.shown = one_per_name(source.lines);
  return source;
}

Source source_of(std::int64_t run, const Source& other) {
  const Database& database = *other.database;
  Source source = source_without_lines(database, run);
  const bool same = database.extents(run) == database.extents(other.run.id) &&
                    source.axes.info().grids == other.axes.info().grids &&
                    database.longest_contexts(run) == database.longest_contexts(other.run.id);
  source.lines = same ? other.lines : lines_of(database, source.axes, run);
  source.shown = one_per_name(source.lines);
  return source;
}

void for_each_of(const Source& source, const std::vector<bool>& grids,
                 const std::function<void(Size, const model::Estimate&)>& visit) {
  if (std::ranges::find(grids, false) == grids.end()) {
    source.database->for_each(source.run.id, visit);
    return;
  }
  for (std::size_t g = 0; g < grids.size(); ++g)
    if (grids[g])
      source.database->read(source.run.id, source.axes.first_point(g),
                            source.axes.info().grids[g].points(), visit);
}

std::vector<MachineLines> by_machine(const std::vector<const ModelRow*>& lines) {
  std::vector<MachineLines> machines;
  std::map<std::string_view, std::size_t> known;
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> models;
  for (const ModelRow* line : lines) {
    const auto [at, added] = known.try_emplace(line->machine, machines.size());
    if (added) machines.push_back({line->machine, {}});
    auto& groups = machines[at->second].models;
    const auto [group, fresh] = models.try_emplace({at->second, line->model}, groups.size());
    if (fresh) groups.emplace_back();
    groups[group->second].push_back(line);
  }
  return machines;
}

LinesByModel by_model(const std::vector<const ModelRow*>& lines) {
  LinesByModel models;
  for (const ModelRow* line : lines) models[line->model].push_back(line);
  return models;
}

std::vector<const ModelRow*> without_repeats(const std::vector<const ModelRow*>& model) {
  std::vector<const ModelRow*> kept;
  for (const ModelRow* line : model) {
    const bool repeated =
        line->precision != line->held && std::ranges::any_of(model, [&](const ModelRow* other) {
          return other->precision == line->held && other->runtime == line->runtime;
        });
    if (!repeated) kept.push_back(line);
  }
  return kept;
}

Written write_reports(const Database& database, std::int64_t run,
                      const std::filesystem::path& folder, Figures figures, CsvFile form, Csv csv,
                      std::string_view inputs) {
  return write_reports(source_of(database, run), folder, figures, form, csv, inputs);
}

Written write_reports(Source read, const std::filesystem::path& folder, Figures figures,
                      CsvFile form, Csv csv, std::string_view inputs) {
  const Database& database = *read.database;
  const std::int64_t run = read.run.id;
  ReportMark mark{.run = run, .form = form_of(figures, form)};
  mark.source = source_state(database.file());
  const auto earlier = mark_of(folder);
  const auto shared = std::make_shared<Source>(std::move(read));
  const std::string csv_name = csv_file_name(form);
  shared->every_point = csv_name.empty() ? database.file().filename().string() : csv_name;
  const Source& source = *shared;
  std::optional<Diff> diff;
  if (const auto before = run_before(database, run))
    diff.emplace(std::make_shared<Source>(source_of(*before, source)), shared);
  Written written;
  mark.fingerprint = source.run.fingerprint;
  mark.finished = source.run.finished;
  mark.inputs = inputs.empty() ? inputs_of(mark, earlier, database) : std::string(inputs);
  // Pictures are not looked into: without their scripts they are drawn anew.
  const bool has_earlier = has_report(folder);
  if (has_earlier && !(earlier && files_are_as_marked(*earlier, folder))) remove_scripts(folder);
  std::error_code error;
  written.database = std::filesystem::equivalent(folder / "results.sqlite", database.file(), error);
  const auto add = [&](const std::string& name, auto&& content) {
    write_whole(folder / name, content);
    written.files.emplace_back(name);
  };
  const bool same_points = csv == Csv::keep && earlier && earlier->points != ReportMark::none &&
                           earlier->fingerprint == mark.fingerprint &&
                           earlier->points == points_state(folder, form);
  if (!same_points) write_csv_file(folder, form, database, run);
  if (form != CsvFile::none) written.files.emplace_back(csv_name);
  const auto trained = training_lines(source);
  const TableBlock overview = compatibility_overview(source);
  add_tables(source, overview, trained, add);
  if (diff) add("changes.md", to_markdown(diff_document(*diff)));
  const auto chosen =
      chosen_figures(source, diff ? &diff->before() : nullptr, figures == Figures::draw_all);
  add("index.html", page(source, overview, diff ? &*diff : nullptr, chosen));
  if (figures != Figures::skip) {
    draw_curves(chosen.figures, training_drawings(source, trained), folder, written);
    if (chosen.left_out > 0) written.notes.push_back(left_out_words(chosen));
  }
  if (has_earlier) remove_others(folder, written);
  const std::string text = to_markdown(folder_document(source, written));
  mark.points = points_state(folder, form);
  mark.files = files_state(folder, text);
  write_readme(folder, text, mark);
  written.files.emplace_back("README.md");
  return written;
}

std::optional<ReportMark> unchanged_reports(const std::filesystem::path& database,
                                            const std::filesystem::path& folder, Figures figures,
                                            CsvFile csv) {
  auto mark = mark_of(folder);
  const bool same = mark && mark->form == form_of(figures, csv) &&
                    source_is_as_marked(*mark, database) && files_are_as_marked(*mark, folder);
  return same ? mark : std::nullopt;
}

}  // namespace headroom::report
