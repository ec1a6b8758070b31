// compatibility.md and compatibility.csv: which model runs where, each in its best way.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "model/infer/estimate.hpp"
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

/// Ways named below the best one of a cell.
constexpr std::size_t most_others = 3;

/// "12 / 60 / 8 layers on GPU / CPU / disk" where something is offloaded.
std::string split_words(const model::Estimate& e) {
  if (grade(e) != Grade::cpu_offload && grade(e) != Grade::disk_offload) return "";
  return fmt::format("{} / {} / {} layers on GPU / CPU / disk", e.layers_gpu, e.layers_cpu,
                     e.layers_disk);
}

std::string context(const BudgetPoint& entry) {
  if (!entry.longest_context || *entry.longest_context == 0) return "";
  return fmt::format("context up to {} tokens", *entry.longest_context);
}

/// "q4_K_M 38.9" of a way that runs, else why it does not.
std::string way_words(const ModelRow& row) {
  const model::Estimate& e = row.roomiest().estimate;
  if (grade(e) == Grade::refused) return "refused";
  if (grade(e) == Grade::does_not_fit) return "does not fit";
  const std::string tokens_s = speed_words(e);
  return row.held + (tokens_s.empty() ? "" : " " + tokens_s) + (is_tight(row) ? " tight" : "") +
         (model::is_too_slow(e) ? " too slow" : "");
}

/// Engine, GPUs and memory, a line each; then the next best ways.
std::vector<Text> details_of(const std::vector<const ModelRow*>& ways, const std::string& change) {
  const ModelRow& best = *ways.front();
  const model::Estimate& e = best.roomiest().estimate;
  std::vector<std::string> lines = {verdict_words(best, best.roomiest())};
  if (model::fits(e)) {
    const std::string gpus = gpus_words(best, best.roomiest());
    lines.push_back(best.runtime + (gpus.empty() ? "" : " on " + gpus));
    if (!gpus.empty()) lines.push_back(gib(e.gpu_bytes) + " on the fullest GPU");
    lines.push_back(split_words(e));
    lines.push_back(context(best.roomiest()));
    if (e.ttft.value() > 0)
      lines.push_back("first token " + shown(e.ttft.value(), DisplayUnit::milliseconds) + " ms");
  }
  if (!change.empty()) lines.push_back("→ " + change);
  for (std::size_t i = 1; i < std::min(ways.size(), most_others + 1); ++i)
    if (model::fits(ways[i]->roomiest().estimate))
      lines.push_back("then " + way_words(*ways[i]) + " (" + ways[i]->runtime + ")");
  std::vector<Text> all;
  for (const auto& line : lines)
    if (!line.empty()) all.emplace_back(line);
  return all;
}

/// The best way as one line, with the rest folded below it.
TableCell matrix_cell(std::span<const ModelRow* const> here, std::span<const ModelRow* const> all) {
  const auto ways = ordered_ways(here);
  const ModelRow& best = *ways.front();
  const model::Estimate& e = best.roomiest().estimate;
  TableCell cell(way_words(best));
  cell.grade = grade(e);
  cell.order = 1e9 * (4 - static_cast<int>(*cell.grade)) + std::max(0.0, e.tokens_s);
  cell.lines = details_of(ways, advice(best, here, all));
  cell.is_folded = true;
  return cell;
}

/// The lines of `machine`'s models by the model's name.
const std::vector<const ModelRow*>* lines_of_model(const MachineLines& machine,
                                                   std::string_view name) {
  for (const auto& model : machine.models)
    if (model.front()->model == name) return &model;
  return nullptr;
}

/// Without the count of a single card.
std::string short_machine(const std::string& name) {
  return name.starts_with("1x ") ? name.substr(3) : name;
}

TableCell billions(double parameters) {
  if (parameters <= 0) return {};
  TableCell cell(shown(parameters, DisplayUnit::billions));
  cell.order = parameters;
  return cell;
}

/// "Cells are at batch 1, 512 + 128 tokens. ", as far as a sentence can name the workloads.
std::string workload_sentence(std::span<const ModelRow* const> shown) {
  constexpr std::size_t most_named = 2;
  std::vector<std::string> all;
  for (const ModelRow* row : shown) all.push_back(row->conditions);
  all = each_once(std::move(all));
  if (all.size() > most_named) return "The file of each machine names its cells' workloads. ";
  return fmt::format("Cells are at {}. ", fmt::join(all, "; or "));
}

}  // namespace

Text matrix_legend(std::span<const ModelRow* const> shown) {
  return Text(workload_sentence(shown) +
              "Each cell names the best way to run the model there: precision and tokens/s. ") +
         sign_of(Grade::on_gpus) + " on GPUs, " + sign_of(Grade::cpu_offload) + " with offload, " +
         sign_of(Grade::does_not_fit) + " does not fit, " + sign_of(Grade::refused) +
         " refused. Tight: memory may not suffice at the high end of its interval. Too slow: "
         "under " +
         fmt::format("{} token/s for each request. ", model::usable_tokens_s) +
         "The best "
         "is the fastest for its bits: narrower weights have to be faster by more than the bits "
         "that they save. Of several requests whole answers count, as served where concurrencies "
         "are swept; tokens/s are of all together. With offload the fastest "
         "of 4 bits or more is best, unless fewer are several times faster. Cells of one row may "
         "hold other weights: wider ones lose less and are slower. Where a sweep names GPU "
         "budgets, cells are at the largest.";
}

TableBlock machines_summary(const Source& source) {
  TableBlock table{{{"machine", Kind::row_name},
                    {"models", Kind::number},
                    {"run on GPUs", Kind::number},
                    {"run, tight", Kind::number},
                    {"need offload", Kind::number},
                    {"too slow", Kind::number},
                    {"do not run", Kind::number}},
                   {},
                   "Models by machine"};
  for (const MachineLines& machine : by_machine(source.shown)) {
    Size well = 0, tight = 0, offload = 0, slow = 0, none = 0;
    for (const auto& model : machine.models) {
      const ModelRow& best = best_way(model);
      const model::Estimate& e = best.roomiest().estimate;
      const Grade of = grade(e);
      ++(of >= Grade::does_not_fit ? none
         : model::is_too_slow(e)   ? slow
         : of != Grade::on_gpus    ? offload
         : is_tight(best)          ? tight
                                   : well);
    }
    table.rows.push_back({machine.machine, std::to_string(machine.models.size()),
                          std::to_string(well), std::to_string(tight), std::to_string(offload),
                          std::to_string(slow), std::to_string(none)});
  }
  return table;
}

TableBlock compatibility_overview(const Source& source) {
  const auto machines = by_machine(source.shown);
  const auto everywhere = by_model(source.shown);
  TableBlock table{{{"model", Kind::row_name}, {"billions", Kind::number}},
                   {},
                   "Compatibility matrix",
                   0,
                   "matrix"};
  std::vector<const ModelRow*> models;
  for (const auto& machine : machines) {
    table.columns.push_back({short_machine(machine.machine)});
    for (const auto& model : machine.models)
      if (std::ranges::find(models, model.front()->model, &ModelRow::model) == models.end())
        models.push_back(model.front());
  }
  for (const ModelRow* model : models) {
    auto& row =
        table.rows.emplace_back(TableRows::value_type{model->model, billions(model->parameters)});
    for (const auto& machine : machines) {
      const auto* here = lines_of_model(machine, model->model);
      row.push_back(here ? matrix_cell(*here, everywhere.at(model->model)) : TableCell());
    }
  }
  return table;
}

Document compatibility_document(const Source& source, const TableBlock& overview) {
  Document page;
  page.heading(1, "Which model runs where: " + source.run.name)
      .add(machines_summary(source))
      .paragraph(matrix_legend(source.shown))
      .add(overview);
  List files;
  for (const MachineLines& machine : by_machine(source.shown)) {
    const auto file = machine_file(machine);
    files.items.push_back({link(file.stem().string(), file.generic_string())});
  }
  return page.paragraph("Every way of every model, with its figures, by machine:")
      .add(std::move(files));
}

Table compatibility_table(const Source& source) {
  Table table{{"machine", "runtime", "model", "precision", "held", "verdict", "words", "gpus_used",
               "layers_gpu", "layers_cpu", "layers_disk", "weights_bytes", "gpu_bytes", "cpu_bytes",
               "disk_bytes", "longest_context", "tokens_s", "class", "advice"},
              {}};
  const auto everywhere = by_model(source.shown);
  for (const MachineLines& machine : by_machine(source.shown))
    for (const auto& model : machine.models)
      for (const ModelRow* line : without_repeats(model)) {
        const BudgetPoint& entry = line->roomiest();
        const model::Estimate& e = entry.estimate;
        table.rows.push_back(
            {line->machine, line->runtime, line->model, line->precision, line->held,
             std::string(model::name_of(e.verdict)), verdict_words(*line, entry),
             std::int64_t{e.gpus_used}, e.layers_gpu, e.layers_cpu, e.layers_disk,
             e.weights.count(), e.gpu_bytes.count(), e.cpu_bytes.count(), e.disk_bytes.count(),
             entry.longest_context ? Value(*entry.longest_context) : Value(),
             e.tokens_s > 0 ? Value(e.tokens_s) : Value(), std::string(speed_class(e)),
             advice(*line, model, everywhere.at(line->model))});
      }
  return table;
}

}  // namespace headroom::report
