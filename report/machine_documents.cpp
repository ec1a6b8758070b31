// machines/: every way of every model on one machine, and what would help.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "report/advice.hpp"
#include "report/curve.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/reports.hpp"
#include "report/way_rows.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

using Kind = TableColumn::Kind;

std::vector<TableCell> figures_of_way(const ModelRow& row, bool is_first) {
  const model::Estimate& e = row.roomiest().estimate;
  const auto bytes = [](Bytes b) { return shown(b.real().value(), DisplayUnit::gib); };
  const bool placed = model::fits(e);
  const auto end = [&](double factor) {
    return model::bytes_at(e.gpu_bytes, e.gpu_uncertain, factor).real().value();
  };
  const double low = end(row.factors.memory.low), high = end(row.factors.memory.high);
  TableCell verdict(verdict_words(row, row.roomiest()));
  verdict.grade = grade(e);
  return {is_first ? row.model : "",
          row.held,
          row.runtime,
          verdict,
          gpus_words(row, row.roomiest()),
          placed ? bytes(e.gpu_bytes) : "",
          placed ? fmt::format("{:.1f}–{:.1f}", low / GiB, high / GiB) : "",
          placed ? bytes(e.cpu_bytes) : "",
          placed ? fmt::format("{} / {} / {}", e.layers_gpu, e.layers_cpu, e.layers_disk) : "",
          row.roomiest().longest_context ? std::to_string(*row.roomiest().longest_context) : "",
          placed ? speed_words(e) : "",
          shown(e.ttft.value(), DisplayUnit::milliseconds),
          shown(e.load.value(), DisplayUnit::seconds),
          std::string(speed_class(e))};
}

std::string conditions(const MachineLines& machine) {
  std::vector<std::string> all;
  for (const auto& model : machine.models)
    for (const ModelRow* line : model) {
      all.push_back(line->conditions);
      if (const auto& budget = line->roomiest().budget)
        all.back() += *budget > 0 ? fmt::format(", {} on each GPU", gib(Bytes(*budget)))
                                  : std::string(", on the CPU alone");
    }
  return fmt::format("{}", fmt::join(each_once(std::move(all)), "; or "));
}

/// Every way of every model, the best first, and what would help where none is on GPUs.
Document machine_document(const Source& source, const MachineLines& machine,
                          const LinesByModel& everywhere) {
  TableBlock table{{{"model", Kind::row_name},
                    {"precision"},
                    {"engine"},
                    {"verdict"},
                    {"GPUs", Kind::number},
                    {"GPU (GiB)", Kind::number},
                    {"interval (GiB)", Kind::number},
                    {"RAM (GiB)", Kind::number},
                    {"layers GPU / CPU / disk", Kind::number},
                    {"longest context", Kind::number},
                    {"tokens/s", Kind::number},
                    {"first token (ms)", Kind::number},
                    {"load (s)", Kind::number},
                    {"class"}},
                   {}};
  List changes;
  for (const auto& model : machine.models) {
    const auto ways = ordered_ways(model);
    for (const ModelRow* row : ways)
      table.rows.push_back(figures_of_way(*row, row == ways.front()));
    const auto words = advice(*ways.front(), model, everywhere.at(model.front()->model));
    if (!words.empty()) changes.items.push_back({strong(model.front()->model) + ": " + words});
  }
  Document page;
  page.heading(1, fmt::format("Models on {}: {}", machine.machine, source.run.name))
      .paragraph("At " + conditions(machine) +
                 ". The best way to run each model comes first. The GPU figures are of the fullest "
                 "card. " +
                 speed_classes_explained())
      .add(std::move(table));
  if (!changes.items.empty()) page.heading(2, "What would help").add(std::move(changes));
  return page;
}

}  // namespace

std::filesystem::path machine_file(const MachineLines& machine) {
  return "machines/" + file_name(machine.machine) + ".md";
}

std::vector<std::pair<std::filesystem::path, Document>> machine_documents(const Source& source) {
  std::vector<std::pair<std::filesystem::path, Document>> all;
  const LinesByModel everywhere = by_model(source.shown);
  for (const MachineLines& machine : by_machine(source.shown))
    all.emplace_back(machine_file(machine), machine_document(source, machine, everywhere));
  return all;
}

}  // namespace headroom::report
