#include "sweep/screen/memory_screen.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/infer/estimate.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/gpus_needed.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

/// Memory by what it is for, on one card that has room for all, and in its host where it has any.
std::string memory_by_use(const std::vector<model::DeviceUse>& devices) {
  std::vector<std::string> headings{"GiB"};
  std::vector<const model::DeviceUse*> shown;
  for (const model::DeviceUse& use : devices)
    if (use.total > Bytes(0)) {
      shown.push_back(&use);
      headings.emplace_back(use.where == model::Where::card  ? "card"
                            : use.where == model::Where::cpu ? "RAM"
                                                             : "disk");
    }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, part] : {std::pair{"weights", &model::DeviceUse::weights},
                                   {"KV cache", &model::DeviceUse::kv_cache},
                                   {"activations", &model::DeviceUse::activations},
                                   {"overhead", &model::DeviceUse::overhead},
                                   {"total", &model::DeviceUse::total}}) {
    rows.push_back({name});
    for (const auto* use : shown) rows.back().push_back(in_gib(use->*part));
  }
  std::vector<bool> right(headings.size(), true);
  right.front() = false;
  return aligned(headings, right, rows);
}

}  // namespace

std::string memory_screen(const GivenScenario& given, const model::Explanation& explained) {
  const model::Estimate& e = explained.estimate;
  const model::Scenario& s = given.scenario;
  std::string text =
      paragraph(fmt::format("{} ({} parameters), {}", given.model->name, size_words(*given.model),
                            way_words(*s.weights, *s.runtime)));
  text += fmt::format("Needs {} GiB on one card ({}–{})\n\n", in_gib(e.gpu_bytes),
                      in_gib(e.gpu_bytes_low), in_gib(e.gpu_bytes_high));
  text += memory_by_use(explained.devices) + '\n';
  if (const auto line = gpus_needed_line(gpus_needed(s, shipped_catalogue())); !line.empty())
    text += paragraph(line + '.');
  for (const auto& line : explained.warnings) text += paragraph("Warning: " + line);
  text += assumption_lines(given);
  return text + paragraph(fmt::format(
                    "Next: headroom {} rtx-4090 compares precisions and engines on a machine, with "
                    "times; --details says more.",
                    given.model->name));
}

}  // namespace headroom::sweep
