// headroom prune: old runs out of a database.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "report/read.hpp"
#include "report/report_mark.hpp"
#include "report/store.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/log.hpp"
#include "sweep/output.hpp"
#include "sweep/run/database_operand.hpp"

namespace headroom::sweep {
namespace {

int run_prune(const Options& options) {
  const auto file = database_operand(options);
  const Size keep = options.whole("keep", 30);
  const Log log(options);
  {
    const report::Database there(file);
  }  // throws if the file is no database, before it is made
     // one
  const auto folder = file.parent_path();
  const auto mark = report::mark_of(folder);
  const bool marked = mark && source_is_as_marked(*mark, file);
  const auto pruned = report::Store(file).prune(keep);
  if (marked) report::mark_source(folder, file);
  log.summary("pruned",
              fmt::format("{} and {} removed, {} MB given back", counted(pruned.runs, "run"),
                          grouped(pruned.rows, "row"), grouped(pruned.bytes / 1'000'000)),
              {{"runs", pruned.runs}, {"rows", pruned.rows}, {"bytes", pruned.bytes}});
  return done;
}

}  // namespace

const Command prune_command = {
    {.name = "prune",
     .summary = "remove all but the last complete runs from a database",
     .operands = "DATABASE|FOLDER",
     .flags = "keep log-format",
     .examples = "headroom prune out/nightly --keep 30",
     .columns = "one line: removed runs and rows, and the saved file size.\nRows that a remaining "
                "run refers to are kept, so its reports do not change.",
     .exit_codes = usual_exit_codes},
    run_prune};

}  // namespace headroom::sweep
