// Everything that a folder out/<run>/ shows, from the database alone.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/csv_file.hpp"
#include "report/document.hpp"
#include "report/read.hpp"
#include "report/report_mark.hpp"
#include "report/selection.hpp"

namespace headroom::report {

/// The data that a document is written from.
struct Source {
  const Database* database = nullptr;
  RunSummary run;
  Axes axes;
  std::vector<ModelRow> lines;         ///< every line of every grid
  std::vector<const ModelRow*> shown;  ///< one per name, into `lines`
  std::string every_point;             ///< name of the file that has every point: "results.csv"
};
/// Throws StoreError where the run is not there or is not complete.
Source source_of(const Database& database, std::int64_t run);
/// As above, for a run of the database of `other`. Lines that both have are not read again.
Source source_of(std::int64_t run, const Source& other);
/// Points of the grids with true in `grids`, and of no others, in order.
void for_each_of(const Source& source, const std::vector<bool>& grids,
                 const std::function<void(Size, const model::Estimate&)>& visit);

/// Rows of one machine by model, in the order of the spec.
struct MachineLines {
  std::string machine;
  std::vector<std::vector<const ModelRow*>> models;
};
/// The lines of a model without those of precision `auto` that another one repeats.
std::vector<const ModelRow*> without_repeats(const std::vector<const ModelRow*>& model);
std::vector<MachineLines> by_machine(const std::vector<const ModelRow*>& lines);
/// Lines of each model. Names live as long as the lines.
using LinesByModel = std::map<std::string_view, std::vector<const ModelRow*>>;
LinesByModel by_model(const std::vector<const ModelRow*>& lines);

/// Words for a cell of a compatibility matrix, and its workload.
Text matrix_legend(std::span<const ModelRow* const> shown);
/// Models counted by machine and by how well they run.
TableBlock machines_summary(const Source& source);
/// Models × machines: the best way to run each, its details folded away.
TableBlock compatibility_overview(const Source& source);
/// The summary and the overview.
/// `overview`: compatibility_overview().
Document compatibility_document(const Source& source, const TableBlock& overview);
/// The file of a machine, relative to the run's folder.
std::filesystem::path machine_file(const MachineLines& machine);
/// A file for each machine with every way of every model, relative to the run's folder.
std::vector<std::pair<std::filesystem::path, Document>> machine_documents(const Source& source);
/// These cells, one row each.
Table compatibility_table(const Source& source);
/// Precisions side by side with the memory that each saves.
Document precision_document(const Source& source);

/// The files in the folder.
struct Written {
  std::vector<std::filesystem::path> files;  ///< relative to the folder
  bool database = false;                     ///< the database lies there too
  std::vector<std::string> notes;            ///< outputs that could not be written, with the reason
};

/// README.md, which links the others: verdicts counted, assumptions, tolerance, figures.
Document folder_document(const Source& source, const Written& written);

/// Varied and fixed axes of each grid, and units.
Document assumptions(const Source& source);
/// The models and where their configs are from.
List models_list(const Source& source);

class Diff;
struct ChosenFigures;
/// out/<run>/index.html: one file with everything in it, that asks no network. `diff`: from the run
/// before; null: there is none.
/// `overview`: compatibility_overview().
std::string page(const Source& source, const TableBlock& overview, const Diff* diff,
                 const ChosenFigures& figures);

/// The intervals of each engine, and of what an engine serves under load.
Document tolerance(const Source& source);
List serving_tolerance(const Source& source);

/// `draw`: those that chosen_figures() chooses.
enum class Figures { draw, draw_all, skip };
/// `keep`: the file of every point may stay where its mark names a run with an equal fingerprint.
/// For runs that consist of the rows of a run that was marked.
enum class Csv { write, keep };
/// results.csv in this form, compatibility.md and .csv, machines/, precision.md, changes.md where
/// there is an earlier run, index.html, curves (PNG, SVG, .gp, .dat) and README.md of the run into
/// `folder`. Each file is written whole or not at all; README.md, with its mark, comes last. Files
/// of an earlier run in machines/ and curves/ are removed. `inputs`: digest of what the run was
/// made from; empty: as the mark says. Throws StoreError.
Written write_reports(const Database& database, std::int64_t run,
                      const std::filesystem::path& folder, Figures figures,
                      CsvFile form = CsvFile::plain, Csv csv = Csv::write,
                      std::string_view inputs = {});
/// As above, where the data are read already.
Written write_reports(Source source, const std::filesystem::path& folder, Figures figures,
                      CsvFile form, Csv csv, std::string_view inputs);
/// The mark of reports in `folder` that write_reports() has written in this form, if the program,
/// the database and all their files are as they were then.
std::optional<ReportMark> unchanged_reports(const std::filesystem::path& database,
                                            const std::filesystem::path& folder, Figures figures,
                                            CsvFile csv);

}  // namespace headroom::report
