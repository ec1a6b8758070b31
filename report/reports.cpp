// Collects what the documents need, writes them all, and the page that links them.
#include "report/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "model/infer/estimate.hpp"
#include "report/chosen_figures.hpp"
#include "report/csv.hpp"
#include "report/diff.hpp"
#include "report/document.hpp"
#include "report/nights.hpp"
#include "report/plot.hpp"
#include "report/training_chart.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {
namespace {

constexpr std::string_view csv_mark = "\n<!-- results.csv: ";

/// The last line of README.md, which names the run of results.csv.
std::string csv_line(const std::filesystem::path& folder, std::string_view fingerprint) {
  std::error_code error;
  return fmt::format("{}{} bytes of {} -->\n", csv_mark,
                     std::filesystem::file_size(folder / "results.csv", error), fingerprint);
}

std::string page_of(const std::filesystem::path& folder) {
  std::ifstream in(folder / "README.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// True if the folder has a report of an earlier run, so that what lies in it is this program's.
bool has_report(const std::filesystem::path& folder) {
  return page_of(folder).find(csv_mark) != std::string::npos;
}

bool csv_is_of(const std::filesystem::path& folder, std::string_view fingerprint) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto csv = fs::last_write_time(folder / "results.csv", error);
  if (error) return false;
  const auto page = fs::last_write_time(folder / "README.md", error);
  if (error || csv > page) return false;
  return page_of(folder).ends_with(csv_line(folder, fingerprint));
}

/// Removes files of these kinds from a folder of the report that are not of this run.
void remove_others(const std::filesystem::path& folder, const std::string& below,
                   const std::set<std::string>& kinds, const Written& written) {
  std::vector<std::filesystem::path> others;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder / below, error))
    if (kinds.contains(file.path().extension().string()) &&
        std::ranges::find(written.files, std::filesystem::path(below) / file.path().filename()) ==
            written.files.end())
      others.push_back(file.path());
  for (const auto& file : others) std::filesystem::remove(file, error);
}

}  // namespace

Source source_of(const Database& database, std::int64_t run) {
  Source source{&database, {}, Axes(database.run(run)), {}, {}};
  source.run = database.summary(run);
  if (!source.run.complete())
    throw StoreError(source.run.finished.empty()
                         ? fmt::format("run {} is not complete; finish the sweep first", run)
                         : fmt::format("run {} is a shard; headroom merge unites them", run));
  source.lines = lines_of(database, source.axes, run);
  source.shown = one_per_name(source.lines);
  return source;
}

std::vector<MachineLines> by_machine(const std::vector<const ModelRow*>& lines) {
  std::vector<MachineLines> machines;
  for (const ModelRow* line : lines) {
    auto machine = std::ranges::find_if(
        machines, [&](const MachineLines& m) { return m.machine == line->machine; });
    if (machine == machines.end()) machine = machines.insert(machine, {line->machine, {}});
    auto model = std::ranges::find_if(
        machine->models, [&](const auto& group) { return group.front()->model == line->model; });
    if (model == machine->models.end()) model = machine->models.emplace(model);
    model->push_back(line);
  }
  return machines;
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
                      const std::filesystem::path& folder, Figures figures, Csv csv) {
  const Source source = source_of(database, run);
  Written written;
  const bool has_earlier = has_report(folder);
  std::error_code error;
  written.database = std::filesystem::equivalent(folder / "results.sqlite", database.file(), error);
  const auto add = [&](const std::string& name, auto&& content) {
    write_whole(folder / name, content);
    written.files.emplace_back(name);
  };
  if (csv == Csv::keep && csv_is_of(folder, source.run.fingerprint))
    written.files.emplace_back("results.csv");
  else
    add("results.csv", [&](std::ostream& out) { write_csv(out, database, run); });
  const auto trained = training_lines(source);
  if (!source.lines.empty() || trained.empty()) {
    add("compatibility.md", to_markdown(compatibility_document(source)));
    for (const auto& [file, document] : machine_documents(source))
      add(file.generic_string(), to_markdown(document));
    add("compatibility.csv",
        [&](std::ostream& out) { write_csv(out, compatibility_table(source)); });
    add("precision.md", to_markdown(precision_document(source)));
  }
  if (!trained.empty())
    add("training.md",
        to_markdown(Document().heading(1, "Training").append(training_document(source, trained))));
  if (const auto before = run_before(database, run))
    add("changes.md", to_markdown(diff_document(Diff(database, *before, run))));
  const auto chosen = chosen_figures(source, figures == Figures::draw_all);
  add("index.html", page(source, chosen));
  if (figures != Figures::skip) {
    const auto& drawn = chosen.figures;
    const auto bars = training_drawings(source, trained);
    for (const auto& file : draw(drawn, folder / "curves"))
      written.files.push_back("curves" / file);
    for (const auto& file : draw(bars, folder / "curves")) written.files.push_back("curves" / file);
    if (!(drawn.empty() && bars.empty()) && !gnuplot_found())
      written.notes.emplace_back(
          "gnuplot was not found, so the curves are not drawn; once it is installed, run it on the "
          ".gp files in curves/");
    if (chosen.left_out > 0) written.notes.push_back(left_out_words(chosen));
  }
  if (has_earlier) {
    remove_others(folder, "machines", {".md"}, written);
    remove_others(folder, "curves", {".png", ".svg", ".gp", ".dat"}, written);
  }
  add("README.md",
      to_markdown(folder_document(source, written)) + csv_line(folder, source.run.fingerprint));
  return written;
}

}  // namespace headroom::report
