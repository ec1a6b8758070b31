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

double total(const Line& line) {
  const auto& e = line.roomiest().estimate;
  return (e.weights + e.kv_cache + e.activations + e.overhead).real().value();
}

/// Lines with numbers, the largest total first.
std::vector<const Line*> widest_first(std::vector<const Line*> lines) {
  std::erase_if(
      lines, [](const Line* line) { return grade(line->roomiest().estimate) == Grade::refused; });
  std::ranges::stable_sort(lines, std::greater{}, [](const Line* line) { return total(*line); });
  return lines;
}

std::vector<std::string> row(const Line& line, const Line& widest) {
  const auto& e = line.roomiest().estimate;
  const auto bytes = [](Bytes b) { return shown(b.real().value(), Shown::gib); };
  const double saved = total(widest) - total(line);
  const bool first = &line == &widest;
  return {markdown_text(line.model),
          markdown_text(held_label(line)),
          bytes(e.weights),
          bytes(e.kv_cache),
          bytes(e.activations),
          bytes(e.overhead),
          shown(total(line), Shown::gib),
          first ? "" : shown(saved, Shown::gib),
          first ? "" : shown(saved / total(widest), Shown::percent),
          markdown_text(verdict_words(line, line.roomiest())),
          grade(e) < Grade::does_not_fit ? shown(e.tokens_s, Shown::plain) : ""};
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
      for (const Line* line : lines) rows.push_back(row(*line, *lines.front()));
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
