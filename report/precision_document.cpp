// precision.md. For each machine and model the precisions side by side, widest first:
//
//   | model | held in | weights (GiB) | … | total (GiB) | saving (GiB) | saving | verdict |
//   tokens/s |
#include <fmt/format.h>

#include <algorithm>

#include "report/format.hpp"
#include "report/markdown.hpp"
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

std::vector<std::string> row(const ModelRow& line, const ModelRow& widest) {
  const auto& e = line.roomiest().estimate;
  const auto bytes = [](Bytes b) { return shown(b.real().value(), DisplayUnit::gib); };
  const double saved = total(widest) - total(line);
  const bool first = &line == &widest;
  return {markdown_text(line.model),
          markdown_text(held_label(line)),
          bytes(e.weights),
          bytes(e.kv_cache),
          bytes(e.activations),
          bytes(e.overhead),
          shown(total(line), DisplayUnit::gib),
          first ? "" : shown(saved, DisplayUnit::gib),
          first ? "" : shown(saved / total(widest), DisplayUnit::percent),
          markdown_text(verdict_words(line, line.roomiest())),
          grade(e) < Grade::does_not_fit ? shown(e.tokens_s, DisplayUnit::plain) : ""};
}

}  // namespace

std::string precision_document(const Source& source) {
  std::string page = fmt::format(
      "# Precisions side by side: {}\n\n"
      "Memory on all devices together: weights, KV cache, activations and overhead (a driver "
      "context "
      "on each card in use, so a model that needs fewer cards saves that too). Savings are of the "
      "total, against the first row of each model.\n\n{}\n",
      markdown_text(source.run.name), tolerance(source));
  for (const MachineLines& machine : by_machine(source.shown)) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& model : machine.models) {
      const auto lines = widest_first(without_repeats(model));
      for (const ModelRow* line : lines) rows.push_back(row(*line, *lines.front()));
    }
    page += fmt::format(
        "## {}\n\n{}\n", title(machine),
        markdown({"model", "held in", "weights (GiB)", "KV cache (GiB)", "activations (GiB)",
                  "overhead (GiB)", "total (GiB)", "saving (GiB)", "saving", "verdict", "tokens/s"},
                 {false, false, true, true, true, true, true, true, true, false, true}, rows));
  }
  return page;
}

}  // namespace headroom::report
