// What changed since the run before, on the page.
#include <fmt/format.h>

#include "report/diff.hpp"
#include "report/nights.hpp"
#include "report/page_parts.hpp"

namespace headroom::report {

std::string changes_part(const Source& source) {
  constexpr std::size_t most = 100;
  const auto before = run_before(*source.database, source.run.id);
  if (!before) return "<p>This is the first run of its name: there is nothing to compare with.</p>";
  const Diff diff(*source.database, *before, source.run.id);
  const auto counts = diff.for_each([](const PointChange&) {});
  std::string out = fmt::format(
      "<p>Against run {}, finished {}: {} points are the same, {} changed by less than 1 %, {} "
      "changed their verdict, {} their numbers; {} came, {} went.</p>",
      *before, diff.before().run.finished, counts.same, counts.below, counts.verdicts,
      counts.numbers, counts.came, counts.went);
  Table answers = decisions(diff);
  const std::size_t all = answers.rows.size();
  if (all > most) answers.rows.resize(most);
  out += all == 0 ? std::string("<p>No verdict of the matrix has changed.</p>")
                  : html_table(answers, "Decisions that changed");
  if (all > most)
    out += fmt::format("<p>{} more: <code>headroom diff</code> lists them.</p>", all - most);
  const auto inputs = diff.inputs();
  if (inputs.empty()) return out + "<p>Nothing that results depend on has changed.</p>";
  Table table{{"what results depend on", "which", "how"}, {}};
  for (const auto& each : inputs)
    if (table.rows.size() < most) table.rows.push_back({each.cause, each.what, each.how});
  return out + html_table(table, "Causes");
}

}  // namespace headroom::report
