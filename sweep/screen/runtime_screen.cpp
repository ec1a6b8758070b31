#include "sweep/screen/runtime_screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;

/// Fields that a person asks for first, with their words.
struct ShownField {
  std::string_view policy, key, words;
};
constexpr ShownField shown_fields[] = {
    {"", "cards", "cards"},
    {"", "usual_precisions", "compared in"},
    {"", "asked_precisions", "if asked, also in"},
    {"weights", "formats", "weights"},
    {"weights", "checkpoints", "checkpoints"},
    {"cache", "formats", "KV cache"},
    {"cache", "growth", "cache grows"},
    {"memory", "utilization", "share of a card"},
    {"memory", "reserve", "sizes by card"},
    {"offload", "mode", "offload"},
    {"parallel", "split", "several cards"},
    {"serving", "continuous_batching", "continuous batching"},
};

constexpr int in_all_widths = ScreenColumn::always;

/// Constants of an engine that measurements stand behind, and all.
struct Evidence {
  Size measured = 0, all = 0;
};
Evidence evidence_of(const Engine& engine) {
  Evidence found;
  const auto add = [&](const Constant& c) {
    ++found.all;
    if (c.measurements > 0) ++found.measured;
  };
  for (const model::NamedConstant& each : model::named_constants()) {
    if (each.of_engine) {
      add(each.in(engine));
      continue;
    }
    for (const auto& row : engine.kernels.efficiency)
      for (const auto& cell : row) add(cell.*each.of_efficiency);
  }
  return found;
}

/// The engine without its version: "vllm" of "vllm-0.13". A row of another name that inherits from
/// vllm is an engine of its own.
std::string_view engine_of(const Engine& row) {
  const bool is_version =
      row.name.starts_with(row.series) && row.name.substr(row.series.size()).starts_with('-');
  return is_version ? row.series : row.name;
}

/// Rows of other versions of the same engine.
std::vector<std::string> other_versions(const Engine& engine) {
  std::vector<std::string> names;
  for (const Engine& each : model::engines())
    if (engine_of(each) == engine_of(engine) && each.name != engine.name)
      names.emplace_back(each.name);
  return names;
}

std::string version_text(const Engine& engine) {
  return std::string(engine.version.substr(0, engine.version.find(',')));
}

}  // namespace

std::string policy_text(const Engine& engine, std::string_view policy, std::string_view key) {
  const auto fields = model::engine_fields();
  const auto field = std::ranges::find_if(
      fields, [&](const model::EngineField& f) { return f.policy == policy && f.key == key; });
  return text_of(*field, engine);
}

std::string runtimes_screen() {
  std::vector<std::vector<std::string>> rows;
  for (const Engine& each : model::engines()) {
    if (engine_of(each) != each.name) continue;
    const Evidence evidence = evidence_of(each);
    const auto others = other_versions(each);
    rows.push_back({std::string(each.name), version_text(each),
                    others.empty() ? "" : fmt::format("{}", others.size()),
                    policy_text(each, "", "cards"), policy_text(each, "offload", "mode"),
                    policy_text(each, "parallel", "split"),
                    fmt::format("{} of {}", evidence.measured, evidence.all)});
  }
  return screen_table({{"runtime", false, in_all_widths, {}},
                       {"version", false, in_all_widths, {}},
                       {"older", true, in_all_widths, {}},
                       {"cards", false, 1, {}},
                       {"offload", false, 3, {}},
                       {"several cards share", false, 2, {}},
                       {"measured", true, in_all_widths, {}}},
                      rows) +
         "One engine: headroom runtimes vllm. Every row and constant: --details, --format csv.\n";
}

std::string runtime_screen(const Engine& engine) {
  std::string text = fmt::format("{} ({})\n", engine.name, engine.version);
  const auto line = [&](std::string_view words, std::string_view value) {
    if (value.empty()) return;
    text += fmt::format("  {:<22}{}", words, trimmed(wrapped(value, 24, 24))) + '\n';
  };
  for (const ShownField& each : shown_fields)
    if (each.key != "utilization" || engine.memory.pool.reserve.empty())
      line(each.words, policy_text(engine, each.policy, each.key));
  if (engine.memory.margin_bytes > 0)
    line("left free on a card", in_gib(Bytes(engine.memory.margin_bytes)) + " GiB");
  const Evidence evidence = evidence_of(engine);
  line("constants", fmt::format("{} of {} measured", evidence.measured, evidence.all));
  if (engine.generation != engine.name)
    line("", fmt::format("shares the constants of {}", engine.generation));
  line("other versions", fmt::format("{}", fmt::join(other_versions(engine), ", ")));
  line("source", engine.source);
  return text + "  --details has every policy and constant with its evidence.\n";
}

}  // namespace headroom::sweep
