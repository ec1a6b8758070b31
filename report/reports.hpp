// Everything that a folder out/<run>/ shows, from the database alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/read.hpp"
#include "report/selection.hpp"

namespace headroom::report {

/// What a document is written from.
struct Source {
  const Database* database = nullptr;
  RunSummary run;
  Axes axes;
  std::vector<ModelRow> lines;         ///< every line of every grid
  std::vector<const ModelRow*> shown;  ///< one per name, into `lines`
};
/// Throws StoreError where the run is not there or is not complete.
Source source_of(const Database& database, std::int64_t run);

/// Lines of one machine (and runtime, see Line::group) by model; all in the order of the spec.
struct MachineLines {
  std::string machine, group;
  std::vector<std::vector<const ModelRow*>> models;
};
/// "2x a100-sxm-40gb @ dual-epyc-120gb, transformers", as Markdown.
std::string title(const MachineLines& machine);
/// The lines of a model without those of precision `auto` that another one repeats.
std::vector<const ModelRow*> without_repeats(const std::vector<const ModelRow*>& model);
std::vector<MachineLines> by_machine(const std::vector<const ModelRow*>& lines);

/// Models × machines, and for each machine models × precisions: verdict in words, where layers are,
/// the longest context, speed and advice.
std::string compatibility_document(const Source& source);
/// The same cells, a row each.
Table compatibility_table(const Source& source);
/// Precisions side by side with the memory that each saves.
std::string precision_document(const Source& source);

/// What was written into the folder.
struct Written {
  std::vector<std::filesystem::path> files;  ///< relative to the folder
  bool database = false;                     ///< the database lies there too
  std::vector<std::string> notes;            ///< what could not be written, and why
};

/// The page that links the others: verdicts counted, assumptions, tolerance, figures.
std::string folder_document(const Database& database, const Source& source, const Written& written);

/// One item a grid, as a Markdown list: what varied, and what stood still.
std::string axes_words(const RunInfo& info);

/// out/<run>/index.html: one file with everything in it, that asks no network.
std::string page(const Source& source);

/// "GPU memory −5 % … +8 %, times −40 % … +80 %; 0 measured rows: a guess, unmeasured", one line a
/// runtime, as a Markdown list.
std::string tolerance(const Source& source);

enum class Figures { draw, skip };
/// Whether results.csv may stay as it is where README.md beside it, which is written last, says
/// that it is of a run of the same fingerprint. For runs that are another one's rows throughout.
enum class Csv { write, keep };
/// results.csv, compatibility.md and .csv, precision.md, changes.md where there is an earlier run,
/// index.html, curves (PNG, SVG, .gp, .dat) and README.md of the run into `folder`. Each file is
/// written whole or not at all; README.md comes last. Throws StoreError.
Written write_reports(const Database& database, std::int64_t run,
                      const std::filesystem::path& folder, Figures figures, Csv csv = Csv::write);

}  // namespace headroom::report
