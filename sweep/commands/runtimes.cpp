// headroom runtimes: the engines, what they decide, and the constants with their evidence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/factors.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/runtime_screen.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;
using model::EngineField;
using model::NamedConstant;

/// All engines, one row each.
report::Table list_of(const std::vector<const Engine*>& rows) {
  report::Table table{
      {"runtime", "version", "cards", "weights", "offload", "several cards share", "source"}, {}};
  for (const Engine* r : rows)
    table.rows.push_back({std::string(r->name), std::string(r->version),
                          policy_text(*r, "", "cards"), policy_text(*r, "weights", "formats"),
                          policy_text(*r, "offload", "mode"), policy_text(*r, "parallel", "split"),
                          std::string(r->source)});
  return table;
}

/// Calls `act(label, constant)` for each constant of the policy, and for each of its cells.
template <class Act>
void each_constant(const Engine& engine, std::string_view policy, Act act) {
  for (const NamedConstant& each : model::named_constants()) {
    if (each.policy != policy) continue;
    if (each.of_engine) {
      act(std::string(each.name), each.in(engine));
      continue;
    }
    for (std::size_t cards = 0; cards < model::card_classes; ++cards)
      for (std::size_t width = 0; width < model::widths; ++width)
        act(fmt::format("{} {} {}", each.name, name_of(model::CardClass(cards)),
                        name_of(model::Width(width))),
            engine.kernels.efficiency[cards][width].*each.of_efficiency);
  }
}

/// Every field and constant as a row, for programs.
report::Table table_of(const std::vector<const Engine*>& rows) {
  report::Table table{
      {"runtime", "version", "policy", "key", "value", "low", "high", "measurements", "source"},
      {}};
  for (const Engine* r : rows) {
    const auto add = [&](std::string_view policy, std::string key, report::Value value,
                         report::Value low, report::Value high, report::Value measurements,
                         std::string_view source) {
      table.rows.push_back({std::string(r->name), std::string(r->version),
                            std::string(policy.empty() ? "engine" : policy), std::move(key),
                            std::move(value), std::move(low), std::move(high),
                            std::move(measurements), std::string(source)});
    };
    for (const EngineField& field : model::engine_fields())
      add(field.policy, std::string(field.key), text_of(field, *r), {}, {}, {}, r->source);
    for (const std::string_view policy : model::policies)
      each_constant(*r, policy, [&](std::string name, const Constant& c) {
        add(policy, std::move(name), c.value, c.low, c.high, std::int64_t{c.measurements},
            c.source);
      });
  }
  return table;
}

/// Number of measurements, and the first of their sources.
std::string evidence(const Constant& c) {
  if (c.measurements == 0) return std::string(c.source);
  const auto comma = std::min(c.source.find(", "), c.source.size());
  return fmt::format("{}: {}{}", counted(c.measurements, "measurement"), c.source.substr(0, comma),
                     comma < c.source.size() ? ", …" : "");
}

/// Bytes in MiB, seconds in µs or ms, all else as it is.
std::string number(std::string_view name, double value) {
  if (name.ends_with("_bytes")) return fmt::format("{:.0f} MiB", value / MiB);
  if (name.ends_with("_s"))
    return value >= 1      ? fmt::format("{:.3g} s", value)
           : value >= 1e-3 ? fmt::format("{:.3g} ms", value * 1e3)
                           : fmt::format("{:.3g} us", value * 1e6);
  if (value >= 1e6) return fmt::format("{:.3g} G", value / 1e9);
  return fmt::format("{:.3g}", value);
}

/// Efficiencies by class of card and width of weights: a line for each class of card.
void add_cells(std::string& text, const Engine& engine) {
  for (const NamedConstant& each : model::named_constants()) {
    if (each.of_engine) continue;
    text += fmt::format("\n  {:<26}", each.name);
    for (std::size_t width = 0; width < model::widths; ++width)
      text += fmt::format("{:>10}", name_of(model::Width(width)));
    text += '\n';
    for (std::size_t cards = 0; cards < model::card_classes; ++cards) {
      text += fmt::format("    {:<24}", name_of(model::CardClass(cards)));
      for (std::size_t width = 0; width < model::widths; ++width) {
        const Constant& cell = engine.kernels.efficiency[cards][width].*each.of_efficiency;
        text += fmt::format("{:>10}",
                            number(each.name, cell.value) + (cell.measurements > 0 ? "*" : " "));
      }
      text += '\n';
    }
  }
  text += "  * measured; the other cells follow from it and from similar engines\n";
}

/// One engine for a reader: what it decides by policy, then its constants.
std::string page_of(const Engine& engine) {
  std::string text = fmt::format("{} ({})\n  {}\n", engine.name, engine.version, engine.source);
  if (engine.generation != engine.name)
    text += fmt::format("  shares the constants of {}\n", engine.generation);
  const auto fields = [&](std::string_view policy) {
    for (const EngineField& field : model::engine_fields())
      if (const std::string value = text_of(field, engine);
          field.policy == policy && !value.empty())
        text += fmt::format("  {:<29}{:<20}  {}\n", field.key, value, field.meaning);
  };
  fields("");
  for (const std::string_view policy : model::policies) {
    text += fmt::format("\n{}\n", policy);
    fields(policy);
    for (const NamedConstant& each : model::named_constants()) {
      if (each.policy != policy || !each.of_engine) continue;
      const Constant& c = each.in(engine);
      text += fmt::format("  {:<29}{:<28}  {}\n", each.name,
                          fmt::format("{} ({} to {})", number(each.name, c.value),
                                      number(each.name, c.low), number(each.name, c.high)),
                          evidence(c));
    }
    if (policy == "kernels") add_cells(text, engine);
  }
  return text;
}

int run_runtimes(const Options& options) {
  std::vector<const Engine*> rows;
  for (const auto& name : options.operands()) rows.push_back(&model::engine(name));
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  const bool screen = format == Format::text && !options.given("details");
  if (rows.empty() && screen) {
    emit(options, runtimes_screen());
  } else if (rows.empty()) {
    for (const Engine& row : model::engines()) rows.push_back(&row);
    emit(options, formatted(list_of(rows), format));
  } else if (format == Format::text) {
    std::vector<std::string> pages;
    for (const Engine* row : rows) pages.push_back(screen ? runtime_screen(*row) : page_of(*row));
    emit(options, fmt::format("{}", fmt::join(pages, "\n")));
  } else {
    emit(options, formatted(table_of(rows), format));
  }
  return done;
}

}  // namespace

const Command runtimes_command = {
    {.name = "runtimes",
     .summary = "show engines: their policies, and constants with their evidence",
     .operands = "[NAME…]",
     .flags = "details format out engines",
     .examples = "headroom runtimes\nheadroom runtimes llama.cpp --details\n"
                 "headroom runtimes vllm vllm-0.7 --format csv",
     .columns =
         "text: the newest row of each engine; --details: every row, constants with evidence\n"
         "without NAME: runtime, version, cards, weights, offload, several cards share,\n"
         "  source\n"
         "with NAME: runtime, version, policy, key, value, low, high (80 % interval),\n"
         "  measurements (0: none), source",
     .exit_codes = usual_exit_codes},
    run_runtimes};

}  // namespace headroom::sweep
