// compatibility.md and compatibility.csv: models × machines in the precision that is asked for,
// then for each machine models × precisions, then the figures behind it.
#include <fmt/format.h>

#include <algorithm>

#include "model/infer/estimate.hpp"
#include "report/advice.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/reports.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

using Kind = TableColumn::Kind;

std::string speed(const model::Estimate& e) {
  return e.tokens_s > 0 ? shown(e.tokens_s, DisplayUnit::plain) + " tokens/s" : "";
}

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

enum class Held { always, where_it_differs };

/// Verdict, weights, split, context and speed, a line each.
TableCell matrix_cell(const ModelRow& line, Held held) {
  const BudgetPoint& entry = line.roomiest();
  const model::Estimate& e = entry.estimate;
  const Grade of = grade(e);
  TableCell cell(verdict_words(line, entry));
  cell.grade = of;
  cell.order = 1e9 * (4 - static_cast<int>(of)) + std::max(0.0, e.tokens_s);
  const bool named = held == Held::always || line.held != line.precision;
  cell.lines.emplace_back((named ? line.held + ", " : "") + gib(e.weights));
  for (const auto& words : {split_words(e), context(entry), speed(e)})
    if (!words.empty()) cell.lines.emplace_back(words);
  return cell;
}

/// The lines of `machine`'s models by the model's name.
const std::vector<const ModelRow*>* lines_of_model(const MachineLines& machine,
                                                   std::string_view name) {
  for (const auto& model : machine.models)
    if (model.front()->model == name) return &model;
  return nullptr;
}

std::vector<std::string> precisions_of(const MachineLines& machine) {
  std::vector<std::string> names;
  for (const auto& model : machine.models)
    for (const ModelRow* line : model)
      if (std::ranges::find(names, line->label) == names.end()) names.push_back(line->label);
  return names;
}

TableCell billions(double parameters) {
  if (parameters <= 0) return {};
  TableCell cell(shown(parameters, DisplayUnit::billions));
  cell.order = parameters;
  return cell;
}

/// Models × precisions of one machine.
TableBlock precision_matrix(const MachineLines& machine, const std::vector<const ModelRow*>& all) {
  const auto precisions = precisions_of(machine);
  TableBlock table{{{"model", Kind::row_name}, {"parameters (billions)", Kind::number}}, {}};
  for (const auto& p : precisions) table.columns.push_back({p});
  table.columns.push_back({"advice"});
  for (const auto& model : machine.models) {
    auto& row = table.rows.emplace_back();
    row = {model.front()->model, billions(model.front()->parameters)};
    for (const auto& p : precisions) {
      const auto line = std::ranges::find(model, p, &ModelRow::label);
      row.push_back(line == model.end() ? TableCell()
                                        : matrix_cell(**line, Held::where_it_differs));
    }
    row.emplace_back(advice(wanted(model), model, all));
  }
  return table;
}

TableBlock figures_behind(const MachineLines& machine) {
  TableBlock table{{{"model", Kind::row_name},
                    {"precision"},
                    {"weights (GiB)", Kind::number},
                    {"KV cache (GiB)", Kind::number},
                    {"layers GPU / CPU / disk", Kind::number},
                    {"GPU memory (GiB)", Kind::number},
                    {"interval (GiB)", Kind::number},
                    {"RAM (GiB)", Kind::number},
                    {"load (s)", Kind::number},
                    {"first token (ms)", Kind::number},
                    {"per token (ms)", Kind::number},
                    {"tokens/s", Kind::number},
                    {"class"}},
                   {}};
  for (const auto& model : machine.models)
    for (const ModelRow* line : without_repeats(model)) {
      const auto& e = line->roomiest().estimate;
      const auto bytes = [](Bytes b) { return shown(b.real().value(), DisplayUnit::gib); };
      const auto interval = fmt::format(
          "{:.1f} – {:.1f}", e.gpu_bytes.real().value() * line->factors.memory.low / GiB,
          e.gpu_bytes.real().value() * line->factors.memory.high / GiB);
      const bool placed = grade(e) < Grade::does_not_fit;
      table.rows.push_back(
          {line->model, precision_label(*line), bytes(e.weights),
           grade(e) == Grade::refused ? "" : bytes(e.kv_cache),
           placed ? fmt::format("{} / {} / {}", e.layers_gpu, e.layers_cpu, e.layers_disk) : "",
           placed ? bytes(e.gpu_bytes) : "", placed ? interval : "",
           placed ? bytes(e.cpu_bytes) : "", shown(e.load.value(), DisplayUnit::seconds),
           shown(e.ttft.value(), DisplayUnit::milliseconds),
           shown(e.tpot.value(), DisplayUnit::milliseconds),
           placed ? shown(e.tokens_s, DisplayUnit::plain) : "", std::string(speed_class(e))});
    }
  return table;
}

std::string conditions(const MachineLines& machine) {
  std::vector<std::string> seen;
  for (const auto& model : machine.models)
    for (const ModelRow* line : model) {
      std::string words = line->conditions;
      if (line->roomiest().budget)
        words += fmt::format(", {} on each GPU", gib(Bytes(*line->roomiest().budget)));
      if (std::ranges::find(seen, words) == seen.end()) seen.push_back(words);
    }
  std::string all;
  for (const auto& words : seen) all += (all.empty() ? "" : "; or ") + words;
  return all;
}

}  // namespace

Text matrix_legend() {
  return Text(
             "Each cell gives the verdict, the size of the weights, the split of layers, the "
             "longest context that fits and the decode speed. A change that would help follows "
             "after →. ") +
         sign_of(Grade::on_gpus) + " fits on GPUs, " + sign_of(Grade::cpu_offload) +
         " needs offload, " + sign_of(Grade::does_not_fit) + " does not fit, " +
         sign_of(Grade::refused) + " refused. \"Fits easily\" uses at most half of the card. " +
         speed_classes_explained();
}

TableBlock compatibility_overview(const Source& source) {
  const auto machines = by_machine(source.shown);
  TableBlock table{{{"model", Kind::row_name}, {"parameters (billions)", Kind::number}},
                   {},
                   "Compatibility matrix",
                   0,
                   "matrix"};
  std::vector<const ModelRow*> models;
  for (const auto& machine : machines) {
    table.columns.push_back({title(machine)});
    for (const auto& model : machine.models)
      if (std::ranges::find(models, model.front()->model, &ModelRow::model) == models.end())
        models.push_back(model.front());
  }
  for (const ModelRow* model : models) {
    auto& row = table.rows.emplace_back(TableRows::value_type{model->model});
    row.push_back(billions(model->parameters));
    for (const auto& machine : machines) {
      row.emplace_back();
      const auto* here = lines_of_model(machine, model->model);
      if (!here) continue;
      const ModelRow& line = wanted(*here);
      row.back() = matrix_cell(line, Held::always);
      const auto words = advice(line, *here, source.shown);
      if (!words.empty() && row.back().grade != Grade::refused)
        row.back().lines.emplace_back("→ " + words);
    }
  }
  return table;
}

Document compatibility_document(const Source& source) {
  Document page;
  page.heading(1, "Which model runs where: " + source.run.name)
      .paragraph(matrix_legend())
      .append(tolerance(source))
      .heading(2, "Models and machines")
      .paragraph(precision_choice)
      .add(compatibility_overview(source));
  for (const MachineLines& machine : by_machine(source.shown))
    page.heading(2, title(machine))
        .paragraph("At " + conditions(machine) + ".")
        .add(precision_matrix(machine, source.shown))
        .add(Details{"The figures behind it", {figures_behind(machine)}});
  return page;
}

Table compatibility_table(const Source& source) {
  Table table{{"machine", "runtime", "model", "precision", "held", "verdict", "words", "gpus_used",
               "layers_gpu", "layers_cpu", "layers_disk", "weights_bytes", "gpu_bytes", "cpu_bytes",
               "disk_bytes", "longest_context", "tokens_s", "class", "advice"},
              {}};
  for (const MachineLines& machine : by_machine(source.shown))
    for (const auto& model : machine.models)
      for (const ModelRow* line : without_repeats(model)) {
        const BudgetPoint& entry = line->roomiest();
        const model::Estimate& e = entry.estimate;
        table.rows.push_back({line->machine, line->runtime, line->model, line->precision,
                              line->held, std::string(model::name_of(e.verdict)),
                              verdict_words(*line, entry), std::int64_t{e.gpus_used}, e.layers_gpu,
                              e.layers_cpu, e.layers_disk, e.weights.count(), e.gpu_bytes.count(),
                              e.cpu_bytes.count(), e.disk_bytes.count(),
                              entry.longest_context ? Value(*entry.longest_context) : Value(),
                              e.tokens_s > 0 ? Value(e.tokens_s) : Value(),
                              std::string(speed_class(e)), advice(*line, model, source.shown)});
      }
  return table;
}

}  // namespace headroom::report
