// compatibility.md. For each machine a matrix, then the figures behind it:
//
//   | model | parameters (billions) | bf16 | int8 | advice |
//   | --- | ---: | --- | --- | --- |
//   | Qwen/Qwen3-32B | 32.76 | ✅ fits on 2 GPUs<br>61.02 GiB, 21.4 tokens/s | ✅ fits on 1
//   GPU<br>… | |
#include <fmt/format.h>

#include <algorithm>

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
  return e.tokens_s > 0 ? shown(e.tokens_s, Shown::plain) + " tokens/s" : "";
}

std::string matrix_cell(const Line& line) {
  const Entry& entry = line.roomiest();
  std::string cell = fmt::format("{} {}<br>{}{}", mark(grade(entry.estimate)),
                                 markdown_text(verdict_words(line, entry)),
                                 line.held != line.precision ? markdown_text(line.held) + ", " : "",
                                 gib(entry.estimate.weights));
  if (const auto s = speed(entry.estimate); !s.empty()) cell += ", " + s;
  return cell;
}

std::vector<std::string> precisions_of(const MachineLines& machine) {
  std::vector<std::string> names;
  for (const auto& model : machine.models)
    for (const Line* line : model)
      if (std::ranges::find(names, line->label) == names.end()) names.push_back(line->label);
  return names;
}

std::string billions(double parameters) {
  return parameters > 0 ? shown(parameters, Shown::billions) : "";
}

std::string matrix(const MachineLines& machine, const std::vector<const Line*>& all) {
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
      const auto line = std::ranges::find(model, p, &Line::label);
      row.push_back(line == model.end() ? "" : matrix_cell(**line));
    }
    row.push_back(markdown_text(advice(model, all)));
  }
  return markdown(headings, right, rows);
}

std::string details(const MachineLines& machine) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& model : machine.models)
    for (const Line* line : without_repeats(model)) {
      const auto& e = line->roomiest().estimate;
      const auto bytes = [](Bytes b) { return shown(b.real().value(), Shown::gib); };
      const auto interval = fmt::format(
          "{:.1f} – {:.1f}", e.gpu_bytes.real().value() * line->factors.memory_low / (1 << 30),
          e.gpu_bytes.real().value() * line->factors.memory_high / (1 << 30));
      const bool placed = grade(e) < Grade::does_not_fit;
      rows.push_back(
          {markdown_text(line->model), markdown_text(held_label(*line)), bytes(e.weights),
           grade(e) == Grade::refused ? "" : bytes(e.kv_cache),
           placed ? fmt::format("{} / {} / {}", e.layers_gpu, e.layers_cpu, e.layers_disk) : "",
           placed ? bytes(e.gpu_bytes) : "", placed ? interval : "",
           placed ? bytes(e.cpu_bytes) : "", shown(e.load.value(), Shown::seconds),
           shown(e.ttft.value(), Shown::milliseconds), shown(e.tpot.value(), Shown::milliseconds),
           placed ? shown(e.tokens_s, Shown::plain) : "", std::string(speed_class(e))});
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
    for (const Line* line : model) {
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
  std::string page = fmt::format(
      "# Which model runs where: {}\n\n"
      "A cell says how the model fits, the size of its weights and its decode speed; ✅ on GPUs, "
      "⚠️ only with offload, ❌ does not fit, ⛔ refused. \"Fits easily\" uses at most half of the "
      "card. {}\n\n{}\n",
      markdown_text(source.run.name), speed_classes_explained(), tolerance(source));
  for (const MachineLines& machine : by_machine(source.shown))
    page += fmt::format(
        "## {}\n\nAt {}.\n\n{}\n<details><summary>The figures behind "
        "it</summary>\n\n{}\n</details>\n\n",
        title(machine), markdown_text(conditions(machine)), matrix(machine, source.shown),
        details(machine));
  return page;
}

}  // namespace headroom::report
