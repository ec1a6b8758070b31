// README.md of a run's folder: which files there are, what was assumed and how sure it is.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/document.hpp"
#include "report/packed_field.hpp"
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

/// Numbers of points of a grid by machine, runtime and verdict.
class VerdictCounts {
 public:
  VerdictCounts(const Axes& axes, std::size_t grid) : axes_(&axes), grid_(grid) {
    const auto& digits = axes.info().grids[grid].digits;
    for (std::size_t d = 0; d < digits.size(); ++d)
      for (const Axis& axis : digits[d]) {
        if (axis.column == "machine") machine_ = d;
        if (axis.column == "runtime") runtime_ = d;
      }
    counts_.resize(static_cast<std::size_t>(positions(machine_) * positions(runtime_)) * verdicts);
  }

  void add(Size point, model::Verdict verdict) {
    const Size place = axes_->position(grid_, machine_, point) * positions(runtime_) +
                       axes_->position(grid_, runtime_, point);
    ++counts_[static_cast<std::size_t>(place) * verdicts + static_cast<std::size_t>(verdict)];
  }

  /// Calls `visit` with the names and the number of each that has points.
  template <class Visit>
  void for_each(const Visit& visit) const {
    const auto text = [&](std::string_view column, std::size_t digit, std::size_t position) {
      const Size step = axes_->places(grid_)[digit].stride * static_cast<Size>(position);
      return text_of(axes_->value(column, axes_->first_point(grid_) + step));
    };
    const auto runtimes = static_cast<std::size_t>(positions(runtime_));
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0)
        visit(text("machine", machine_, i / verdicts / runtimes),
              text("runtime", runtime_, i / verdicts % runtimes),
              std::string(model::name_of(static_cast<model::Verdict>(i % verdicts))), counts_[i]);
  }

 private:
  static constexpr auto verdicts = static_cast<std::size_t>(packed::verdict.most()) + 1;
  Size positions(std::size_t digit) const { return axes_->places(grid_)[digit].size; }

  const Axes* axes_;
  std::size_t grid_, machine_ = 0, runtime_ = 0;  ///< digits
  std::vector<Size> counts_;
};

/// Points by machine, runtime and verdict.
Table verdicts(const Source& source) {
  const Axes& axes = source.axes;
  std::vector<VerdictCounts> grids;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g) grids.emplace_back(axes, g);
  source.database->for_each_verdict(source.run.id, [&](Size point, model::Verdict verdict) {
    grids[axes.grid_of(point)].add(point, verdict);
  });
  std::map<std::tuple<std::string, std::string, std::string>, Size> by_name;
  for (const VerdictCounts& grid : grids)
    grid.for_each([&](auto machine, auto runtime, auto verdict, Size points) {
      by_name[{machine, runtime, verdict}] += points;
    });
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
      .paragraph(fmt::format("Run {} of the database, finished {}, headroom {}, {} points.",
                             source.run.id, source.run.finished, source.run.version,
                             source.run.points))
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
