// Changes since the run before, on the page.
#include "report/diff.hpp"
#include "report/nights.hpp"
#include "report/page_parts.hpp"

namespace headroom::report {

Document changes_part(const Source& source) {
  const auto before = run_before(*source.database, source.run.id);
  if (!before)
    return Document().paragraph(
        "This is the first run of its name: there is nothing to compare with.");
  const Diff diff(*source.database, *before, source.run.id);
  const auto counts = diff.for_each([](const PointChange&) {});
  return diff_summary(diff, counts, 3)
      .paragraph(link("changes.md", "changes.md") + " has the points that changed most.");
}

}  // namespace headroom::report
