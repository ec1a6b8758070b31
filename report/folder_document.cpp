// README.md of a run's folder: which files there are, what was assumed and how sure it is.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/document.hpp"
#include "report/report_mark.hpp"
#include "report/reports.hpp"
#include "report/view.hpp"

namespace headroom::report {
namespace {

List files_list(const Written& written) {
  List list;
  if (written.database)
    list.items.push_back({link("results.sqlite", "results.sqlite") + ": the database; " +
                          code("sqlite3 results.sqlite 'SELECT * FROM column_meaning'") +
                          " says what its columns mean"});
  for (const auto& [name, meaning] : report_files())
    if (std::ranges::find(written.files, std::filesystem::path(name)) != written.files.end())
      list.items.push_back(
          {link(std::string(name), std::string(name)) + ": " + std::string(meaning)});
  const auto in_machines = [](const std::filesystem::path& file) {
    return file.parent_path() == "machines";
  };
  if (std::ranges::any_of(written.files, in_machines))
    list.items.push_back(
        {link("machines/", "machines/") + ": every way of every model, a file for each machine"});
  return list;
}

enum class Drawn { curves, training };

Pictures pictures_of(const Written& written, Drawn which) {
  Pictures all;
  for (const auto& file : written.files) {
    const bool bars = file.stem().string().starts_with("training-");
    if (file.extension() != ".png" || bars != (which == Drawn::training)) continue;
    auto stem = file;
    const auto with = [&](const char* extension) {
      return stem.replace_extension(extension).generic_string();
    };
    all.pictures.push_back({{},
                            file.stem().string(),
                            file,
                            link("SVG", with(".svg")) + " · " +
                                link("gnuplot script", with(".gp")) + " · " +
                                link("data", with(".dat"))});
  }
  return all;
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
  using Place = std::tuple<std::size_t, Size, Size, model::Verdict>;
  std::map<Place, Size> by_place;
  auto last = by_place.end();  // many points in a row have one place
  source.database->for_each_verdict(source.run.id, [&](Size point, model::Verdict verdict) {
    const auto grid = axes.grid_of(point);
    const Place place{grid, axes.position(grid, places[grid].machine, point),
                      axes.position(grid, places[grid].runtime, point), verdict};
    if (last == by_place.end() || last->first != place) last = by_place.try_emplace(place).first;
    ++last->second;
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

/// The best that each engine serves, and its intervals.
Document served_best(const Source& source) {
  const bool asked = std::ranges::any_of(columns_of(source.axes.info()), [](const Column* c) {
    return c->applies_to == AppliesTo::serving;
  });
  if (!asked) return {};
  return Document()
      .heading(2, "Serving under load")
      .paragraph(
          fmt::format("The concurrency with most requests per second; {} has every one, with "
                      "intervals.",
                      source.every_point))
      .add(table_block(source.database->query(std::string(view("serving").sql), source.run.id)))
      .add(serving_tolerance(source));
}

}  // namespace

Document folder_document(const Source& source, const Written& written) {
  Document page;
  page.heading(1, "Run " + source.run.name)
      .paragraph(fmt::format("Run {} of the database, finished {}, headroom {}, {}.", source.run.id,
                             source.run.finished, source.run.version,
                             counted(source.run.points, "point")))
      .add(files_list(written))
      .heading(2, "Verdicts")
      .add(table_block(verdicts(source)))
      .heading(2, "Assumptions")
      .append(assumptions(source))
      .heading(2, "Models")
      .add(models_list(source))
      .heading(2, "Tolerance")
      .append(tolerance(source))
      .append(served_best(source));
  if (auto pictures = pictures_of(written, Drawn::curves); !pictures.pictures.empty())
    page.heading(2, "Speed against GPU allocation")
        .paragraph(
            "A curve for each precision; the knee is the smallest allocation that reaches "
            "95 % of the best speed. Crosses are allocations that the model does not run "
            "in.")
        .add(std::move(pictures));
  if (auto pictures = pictures_of(written, Drawn::training); !pictures.pictures.empty())
    page.heading(2, "Training")
        .paragraph(Text("A bar for each model and method shows the parts of the peak on the "
                        "fullest card. ") +
                   link("training.md", "training.md") + " has the numbers.")
        .add(std::move(pictures));
  for (const auto& note : written.notes) page.paragraph("Note: " + note);
  return page;
}

}  // namespace headroom::report
