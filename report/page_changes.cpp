// Changes since the run before, on the page.
#include "report/diff.hpp"
#include "report/page_parts.hpp"

namespace headroom::report {

Document changes_part(const Diff* diff) {
  if (!diff)
    return Document().paragraph(
        "This is the first run of its name: there is nothing to compare with.");
  const auto counts = diff->for_each([](const PointChange&) {});
  return diff_summary(*diff, counts, 3)
      .paragraph(link("changes.md", "changes.md") + " has the points that changed most.");
}

}  // namespace headroom::report
