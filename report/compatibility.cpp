// compatibility.md and compatibility.csv: models × machines in the precision that is asked for,
// then for each machine models × precisions, then the figures behind it:
//
//   | model | 2x a100-sxm-40gb @ … |
//   | --- | --- |
//   | Qwen/Qwen3-32B | ✅ fits on 2 GPUs<br>bf16, 61.02 GiB<br>context up to 40,960<br>21.4
//   tokens/s |
#include <fmt/format.h>

#include <algorithm>

#include "model/infer/estimate.hpp"
#include "report/advice.hpp"
#include "report/format.hpp"
#include "report/markdown.hpp"
#include "report/reports.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

std::string_view mark(Grade grade) {
  switch (grade) {
    case Grade::on_gpus:
      return "✅";
    case Grade::cpu_offload:
    case Grade::disk_offload:
      return "⚠️";
    case Grade::does_not_fit:
      return "❌";
    default:
      return "⛔";
  }
}

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
std::string matrix_cell(const ModelRow& line, Held held) {
  const BudgetPoint& entry = line.roomiest();
  const bool named = held == Held::always || line.held != line.precision;
  std::string cell = fmt::format(
      "{} {}<br>{}{}", mark(grade(entry.estimate)), markdown_text(verdict_words(line, entry)),
      named ? markdown_text(line.held) + ", " : "", gib(entry.estimate.weights));
  for (const auto& words : {split_words(entry.estimate), context(entry), speed(entry.estimate)})
    if (!words.empty()) cell += "<br>" + words;
  return cell;
}

/// The lines of `machine`'s models by the model's name.
const std::vector<const ModelRow*>* lines_of_model(const MachineLines& machine,
                                                   std::string_view name) {
  for (const auto& model : machine.models)
    if (model.front()->model == name) return &model;
  return nullptr;
}

/// Models × machines, each in the precision that is asked for, with what would help.
std::string overview(const std::vector<MachineLines>& machines,
                     const std::vector<const ModelRow*>& all) {
  std::vector<std::string> headings{"model"}, models;
  for (const auto& machine : machines) {
    headings.push_back(title(machine));
    for (const auto& model : machine.models)
      if (std::ranges::find(models, model.front()->model) == models.end())
        models.push_back(model.front()->model);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& name : models) {
    auto& row = rows.emplace_back(std::vector<std::string>{markdown_text(name)});
    for (const auto& machine : machines) {
      const auto* here = lines_of_model(machine, name);
      row.emplace_back();
      if (!here) continue;
      const ModelRow& line = wanted(*here);
      row.back() = matrix_cell(line, Held::always);
      if (const auto words = advice(line, *here, all); !words.empty())
        row.back() += "<br>→ " + markdown_text(words);
    }
  }
  return markdown(headings, std::vector<bool>(headings.size(), false), rows);
}

std::vector<std::string> precisions_of(const MachineLines& machine) {
  std::vector<std::string> names;
  for (const auto& model : machine.models)
    for (const ModelRow* line : model)
      if (std::ranges::find(names, line->label) == names.end()) names.push_back(line->label);
  return names;
}

std::string billions(double parameters) {
  return parameters > 0 ? shown(parameters, DisplayUnit::billions) : "";
}

std::string matrix(const MachineLines& machine, const std::vector<const ModelRow*>& all) {
  const auto precisions = precisions_of(machine);
  std::vector<std::string> headings{"model", "parameters (billions)"};
  std::vector<bool> right{false, true};
  for (const auto& p : precisions) {
    headings.push_back(markdown_text(p));
    right.push_back(false);
  }
  headings.emplace_back("advice");
  right.push_back(false);
  std::vector<std::vector<std::string>> rows;
  for (const auto& model : machine.models) {
    auto& row = rows.emplace_back();
    row = {markdown_text(model.front()->model), billions(model.front()->parameters)};
    for (const auto& p : precisions) {
      const auto line = std::ranges::find(model, p, &ModelRow::label);
      row.push_back(line == model.end() ? "" : matrix_cell(**line, Held::where_it_differs));
    }
    row.push_back(markdown_text(advice(wanted(model), model, all)));
  }
  return markdown(headings, right, rows);
}

std::string details(const MachineLines& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& model : machine.models)
    for (const ModelRow* line : without_repeats(model)) {
      const auto& e = line->roomiest().estimate;
      const auto bytes = [](Bytes b) { return shown(b.real().value(), DisplayUnit::gib); };
      const auto interval = fmt::format(
          "{:.1f} – {:.1f}", e.gpu_bytes.real().value() * line->factors.memory.low / (1 << 30),
          e.gpu_bytes.real().value() * line->factors.memory.high / (1 << 30));
      const bool placed = grade(e) < Grade::does_not_fit;
      rows.push_back(
          {markdown_text(line->model), markdown_text(held_label(*line)), bytes(e.weights),
           grade(e) == Grade::refused ? "" : bytes(e.kv_cache),
           placed ? fmt::format("{} / {} / {}", e.layers_gpu, e.layers_cpu, e.layers_disk) : "",
           placed ? bytes(e.gpu_bytes) : "", placed ? interval : "",
           placed ? bytes(e.cpu_bytes) : "", shown(e.load.value(), DisplayUnit::seconds),
           shown(e.ttft.value(), DisplayUnit::milliseconds),
           shown(e.tpot.value(), DisplayUnit::milliseconds),
           placed ? shown(e.tokens_s, DisplayUnit::plain) : "", std::string(speed_class(e))});
    }
  return markdown({"model", "held in", "weights (GiB)", "KV cache (GiB)", "layers GPU / CPU / disk",
                   "GPU memory (GiB)", "interval (GiB)", "RAM (GiB)", "load (s)",
                   "first token (ms)", "per token (ms)", "tokens/s", "class"},
                  {false, false, true, true, true, true, true, true, true, true, true, true, false},
                  rows);
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

std::string compatibility_document(const Source& source) {
  const auto machines = by_machine(source.shown);
  std::string page = fmt::format(
      "# Which model runs where: {}\n\n"
      "A cell says how the model fits, the size of its weights, where its layers are, the longest "
      "context that fits likewise, its decode speed and after → what would help; ✅ on GPUs, ⚠️ "
      "only "
      "with offload, ❌ does not fit, ⛔ refused. \"Fits easily\" uses at most half of the card. "
      "{}\n\n{}\n## Models and machines\n\nEach model in its checkpoint's own precision where the "
      "run has it, else in the widest of the run; the cell says which.\n\n{}\n",
      markdown_text(source.run.name), speed_classes_explained(), tolerance(source),
      overview(machines, source.shown));
  for (const MachineLines& machine : machines)
    page += fmt::format(
        "## {}\n\nAt {}.\n\n{}\n<details><summary>The figures behind "
        "it</summary>\n\n{}\n</details>\n\n",
        title(machine), markdown_text(conditions(machine)), matrix(machine, source.shown),
        details(machine));
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
