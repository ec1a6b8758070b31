// precision.md: for each machine and model the precisions side by side, widest first.
#include <algorithm>

#include "report/document.hpp"
#include "report/format.hpp"
#include "report/reports.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

double total(const ModelRow& line) {
  const auto& e = line.roomiest().estimate;
  return (e.weights + e.kv_cache + e.activations + e.overhead).real().value();
}

/// Lines with numbers, the largest total first.
std::vector<const ModelRow*> widest_first(std::vector<const ModelRow*> lines) {
  std::erase_if(lines, [](const ModelRow* line) {
    return grade(line->roomiest().estimate) == Grade::refused;
  });
  std::ranges::stable_sort(lines, std::greater{},
                           [](const ModelRow* line) { return total(*line); });
  return lines;
}

std::vector<TableCell> precision_row(const ModelRow& line, const ModelRow& widest) {
  const auto& e = line.roomiest().estimate;
  const auto bytes = [](Bytes b) { return shown(b.real().value(), DisplayUnit::gib); };
  const double saved = total(widest) - total(line);
  const bool first = &line == &widest;
  return {line.model,
          precision_label(line),
          bytes(e.weights),
          bytes(e.kv_cache),
          bytes(e.activations),
          bytes(e.overhead),
          shown(total(line), DisplayUnit::gib),
          first ? "" : shown(saved, DisplayUnit::gib),
          first ? "" : shown(saved / total(widest), DisplayUnit::percent),
          verdict_words(line, line.roomiest()),
          grade(e) < Grade::does_not_fit ? shown(e.tokens_s, DisplayUnit::plain) : ""};
}

TableBlock precisions(const MachineLines& machine) {
  using enum TableColumn::Kind;
  TableBlock table{{{"model", row_name},
                    {"precision", text},
                    {"weights (GiB)", number},
                    {"KV cache (GiB)", number},
                    {"activations (GiB)", number},
                    {"overhead (GiB)", number},
                    {"total (GiB)", number},
                    {"saving (GiB)", number},
                    {"saving", number},
                    {"verdict", text},
                    {"tokens/s", number}},
                   {}};
  for (const auto& model : machine.models) {
    const auto lines = widest_first(without_repeats(model));
    for (const ModelRow* line : lines) table.rows.push_back(precision_row(*line, *lines.front()));
  }
  return table;
}

}  // namespace

Document precision_document(const Source& source) {
  Document page;
  page.heading(1, "Precisions side by side: " + source.run.name)
      .paragraph(
          "Memory on all devices together: weights, KV cache, activations and overhead. Overhead "
          "includes a driver context on each card in use, so a model that needs fewer cards saves "
          "that too. Savings are of the total, against the first row of each model.");
  for (const MachineLines& machine : by_machine(source.shown))
    page.heading(2, machine.machine).add(precisions(machine));
  return page;
}

}  // namespace headroom::report
