// Collects what the documents need, writes them all, and the page that links them.
#include "report/reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/csv.hpp"
#include "report/curve.hpp"
#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/markdown.hpp"
#include "report/nights.hpp"
#include "report/plot.hpp"
#include "report/training_chart.hpp"
#include "report/view.hpp"
#include "report/whole_file.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

std::string percent(double factor) { return fmt::format("{:+.0f} %", (factor - 1) * 100); }

std::string files_words(const Written& written) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"index.html", "all of this as one page, to sort and to filter"},
      {"changes.md", "what changed since the run before, and why"},
      {"results.csv", "every point, in bytes and seconds"},
      {"compatibility.md", "which model runs where, with advice"},
      {"compatibility.csv", "the same, a row for each model, machine and precision"},
      {"precision.md", "precisions side by side, with what each saves"},
      {"training.md", "each model and method: what fits, and what its memory is made of"}};
  std::string list;
  if (written.database)
    list +=
        "- [results.sqlite](results.sqlite): the database; `sqlite3 results.sqlite 'SELECT * FROM "
        "column_meaning'` says what its columns mean\n";
  for (const auto& [name, meaning] : known)
    if (std::ranges::find(written.files, std::filesystem::path(name)) != written.files.end())
      list += fmt::format("- [{}]({}): {}\n", name, name, meaning);
  return list;
}

enum class Drawn { curves, training };

std::string figures_words(const Written& written, Drawn which) {
  std::string list;
  for (const auto& file : written.files) {
    const bool bars = file.stem().string().starts_with("training-");
    if (file.extension() != ".png" || bars != (which == Drawn::training)) continue;
    auto stem = file;
    const auto with = [&](const char* extension) {
      return stem.replace_extension(extension).generic_string();
    };
    list += fmt::format("![{}]({})\n\n[SVG]({}) · [gnuplot script]({}) · [data]({})\n\n",
                        file.stem().string(), file.generic_string(), with(".svg"), with(".gp"),
                        with(".dat"));
  }
  return list;
}

/// The last line of README.md: which run the results.csv beside it is of.
std::string csv_line(const std::filesystem::path& folder, std::string_view fingerprint) {
  std::error_code error;
  return fmt::format("\n<!-- results.csv: {} bytes of {} -->\n",
                     std::filesystem::file_size(folder / "results.csv", error), fingerprint);
}

bool csv_is_of(const std::filesystem::path& folder, std::string_view fingerprint) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto csv = fs::last_write_time(folder / "results.csv", error);
  if (error) return false;
  const auto page = fs::last_write_time(folder / "README.md", error);
  if (error || csv > page) return false;
  std::ifstream in(folder / "README.md", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.ends_with(csv_line(folder, fingerprint));
}

/// Points by machine, runtime and verdict.
Table verdicts(const Source& source) {
  const Axes& axes = source.axes;
  struct Places {
    std::size_t machine = 0, runtime = 0;  ///< digits
  };
  std::vector<Places> places;
  for (const GridShape& grid : axes.info().grids) {
    Places& found = places.emplace_back();
    for (std::size_t d = 0; d < grid.digits.size(); ++d)
      for (const Axis& axis : grid.digits[d]) {
        if (axis.column == "machine") found.machine = d;
        if (axis.column == "runtime") found.runtime = d;
      }
  }
  std::map<std::tuple<std::size_t, Size, Size, model::Verdict>, Size> by_place;
  source.database->for_each(source.run.id, [&](Size point, const model::Estimate& e) {
    const auto grid = axes.grid_of(point);
    ++by_place[{grid, axes.position(grid, places[grid].machine, point),
                axes.position(grid, places[grid].runtime, point), e.verdict}];
  });
  std::map<std::tuple<std::string, std::string, std::string>, Size> by_name;
  for (const auto& [key, points] : by_place) {
    const auto& [grid, machine, runtime, verdict] = key;
    const auto text = [&](std::string_view column, std::size_t digit, Size position) {
      return text_of(
          axes.value(column, axes.first_point(grid) + position * axes.places(grid)[digit].stride));
    };
    by_name[{text("machine", places[grid].machine, machine),
             text("runtime", places[grid].runtime, runtime),
             std::string(model::name_of(verdict))}] += points;
  }
  Table table{{"machine", "runtime", "verdict", "points"}, {}};
  for (const auto& [key, points] : by_name)
    table.rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), points});
  return table;
}

}  // namespace

std::string axes_words(const RunInfo& info) {
  std::string list;
  for (std::size_t g = 0; g < info.grids.size(); ++g) {
    std::string varied, fixed;
    for (const Digit& digit : info.grids[g].digits)
      for (const Axis& axis : digit) {
        const Column* column = find_column(axis.column);
        if (!column || column->kind != ColumnKind::axis) continue;
        std::set<std::string> values;
        for (const AxisValue& v : axis.values) values.insert(text_of(&v));
        if (values.size() > 1) {
          varied +=
              fmt::format("{}{} ({})", varied.empty() ? "" : ", ", column->heading, values.size());
        } else if (const auto& value = *values.begin(); !value.empty()) {
          fixed += fmt::format("{}{} {}", fixed.empty() ? "" : ", ", column->heading,
                               markdown_text(value));
        }
      }
    list += fmt::format("- Grid {} of {} points: {}{}{}.\n", g + 1, info.grids[g].points(),
                        varied.empty() ? "nothing varies" : varied,
                        fixed.empty() ? "" : "; fixed: ", fixed);
  }
  return list;
}

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
    auto machine = std::ranges::find_if(machines, [&](const MachineLines& m) {
      return m.machine == line->machine && m.group == line->group;
    });
    if (machine == machines.end())
      machine = machines.insert(machine, {line->machine, line->group, {}});
    auto model = std::ranges::find_if(
        machine->models, [&](const auto& group) { return group.front()->model == line->model; });
    if (model == machine->models.end()) model = machine->models.emplace(model);
    model->push_back(line);
  }
  return machines;
}

std::string title(const MachineLines& machine) {
  return markdown_text(machine.group.empty() ? machine.machine
                                             : machine.machine + ", " + machine.group);
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

/// "-10 % to +12 % (34 measured rows)".
std::string words(const model::Interval& of) {
  return fmt::format("{} to {} ({})", percent(of.low), percent(of.high),
                     of.measurements == 0 ? std::string("no measured row: a guess")
                                          : fmt::format("{} measured rows", of.measurements));
}

/// Whether some grid asks for a concurrency.
bool serves(const RunInfo& info) {
  return std::ranges::any_of(columns_of(info),
                             [](const Column* c) { return c->applies_to == AppliesTo::serving; });
}

/// What each engine serves at its best, and how sure that is.
std::string serving_words(const Database& database, const Source& source) {
  if (!serves(source.axes.info())) return {};
  std::string text = "## What requests get\n\nThe concurrency with most requests a second; ";
  text += "results.csv has every one, with intervals.\n\n" +
          markdown(database.query(std::string(view("serving").sql), source.run.id)) + '\n';
  std::set<std::string> seen;
  for (const ModelRow& line : source.lines)
    if (const auto& f = line.factors; seen.insert(line.runtime).second)
      text += fmt::format(
          "- {}, under load: first token {}, time per token {}, time of so many requests {}\n",
          markdown_text(line.runtime), words(f.serving_ttft), words(f.serving_tpot),
          words(f.serving_rate));
  return text + '\n';
}

/// Of one engine, with weights outside the cards: an interval for each kind of host.
std::string offload_words(const Source& source, std::string_view runtime) {
  std::vector<model::Interval> each;
  for (const ModelRow& line : source.lines) {
    const model::Interval& found = line.factors.offload;
    if (line.runtime == runtime &&
        std::ranges::find(each, found.low, &model::Interval::low) == each.end())
      each.push_back(found);
  }
  std::string text;
  for (const model::Interval& one : each) text += (text.empty() ? "" : " or ") + words(one);
  return text + (each.size() > 1 ? ", by whether the host's memory is known" : "");
}

std::string tolerance(const Source& source) {
  std::string list;
  std::set<std::string> seen;
  for (const ModelRow& line : source.lines) {
    const auto& f = line.factors;
    if (!seen.insert(line.runtime).second) continue;
    list += fmt::format(
        "- {}: GPU memory {}, first token {}, time per token {}, both with weights outside the "
        "cards {}, "
        "load {}{}{}\n",
        markdown_text(line.runtime), words(f.memory), words(f.ttft), words(f.tpot),
        offload_words(source, line.runtime), words(f.load), f.source.empty() ? "" : "; ", f.source);
    if (f.memory.measurements == 0)
      list += "  - With no measured row behind its memory, no verdict of this runtime is sure.\n";
  }
  for (const TrainingLine& line : training_lines(source)) {
    if (!seen.insert(line.runtime + ", training").second) continue;
    const auto f = source.axes.factors(line.point);
    list += fmt::format("- {}, training: GPU memory {}, time of a step {}{}{}\n",
                        markdown_text(line.runtime), words(f.memory), words(f.tpot),
                        f.source.empty() ? "" : "; ", f.source);
  }
  return "Intervals around the expected values, 80 %, by runtime; times are wider on cards that it "
         "was not measured on with such weights:\n\n" +
         list;
}

std::string folder_document(const Database& database, const Source& source,
                            const Written& written) {
  std::string page = fmt::format(
      "# Run {}\n\nRun {} of the database, finished {}, headroom {}, {} points.\n\n{}\n",
      markdown_text(source.run.name), source.run.id, source.run.finished, source.run.version,
      source.run.points, files_words(written));
  page += fmt::format("## Verdicts\n\n{}\n", markdown(verdicts(source)));
  page += fmt::format("## Assumptions\n\n{}\n", axes_words(source.axes.info()));
  page +=
      "GPU memory is all that a process uses on a card, as nvidia-smi would show it. Tables show "
      "GiB and milliseconds; results.csv and the database have bytes and seconds.\n\n";
  page += "## Models\n\n";
  for (const ModelOrigin& each : source.axes.info().models)
    page += fmt::format("- {}: {}\n", markdown_text(each.model), markdown_text(each.source));
  page += fmt::format("\n## Tolerance\n\n{}\n", tolerance(source));
  page += serving_words(database, source);
  if (const auto figures = figures_words(written, Drawn::curves); !figures.empty())
    page +=
        "## Speed against GPU allocation\n\n"
        "A curve for each precision; the knee is the smallest allocation that reaches 95 % of the "
        "best speed. Crosses are allocations that the model does not run in.\n\n" +
        figures;
  if (const auto figures = figures_words(written, Drawn::training); !figures.empty())
    page +=
        "## What training takes\n\n"
        "A bar for each model and method: what the peak of the fullest card is made of. "
        "[training.md](training.md) has the numbers.\n\n" +
        figures;
  for (const auto& note : written.notes) page += fmt::format("Note: {}\n\n", markdown_text(note));
  return page;
}

Written write_reports(const Database& database, std::int64_t run,
                      const std::filesystem::path& folder, Figures figures, Csv csv) {
  const Source source = source_of(database, run);
  Written written;
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
    add("compatibility.md", compatibility_document(source));
    add("compatibility.csv",
        [&](std::ostream& out) { write_csv(out, compatibility_table(source)); });
    add("precision.md", precision_document(source));
  }
  if (!trained.empty()) add("training.md", training_document(source, trained));
  if (const auto before = run_before(database, run))
    add("changes.md", diff_document(Diff(database, *before, run)));
  add("index.html", page(source));
  if (figures == Figures::draw) {
    const auto drawn = figures_of(source.lines);
    const auto bars = training_drawings(source, trained);
    for (const auto& file : draw(drawn, folder / "curves"))
      written.files.push_back("curves" / file);
    for (const auto& file : draw(bars, folder / "curves")) written.files.push_back("curves" / file);
    if (!(drawn.empty() && bars.empty()) && !gnuplot_found())
      written.notes.emplace_back(
          "gnuplot was not found, so the curves are not drawn; once it is installed, run it on the "
          ".gp files in curves/");
  }
  add("README.md",
      folder_document(database, source, written) + csv_line(folder, source.run.fingerprint));
  return written;
}

}  // namespace headroom::report
