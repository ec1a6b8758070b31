// README.md of a run's folder: which files there are, what was assumed and how sure it is.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "report/document.hpp"
#include "report/report_mark.hpp"
#include "report/reports.hpp"
#include "report/verdict_table.hpp"
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
      .add(table_block(verdict_table(source)))
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
