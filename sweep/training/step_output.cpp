#include "sweep/training/step_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/memory/rounding.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/speed_output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::StepPart;

std::string bytes_text(double bytes) {
  return bytes > 0 ? to_text(Bytes(static_cast<Size>(std::llround(bytes)))) : "";
}
std::string seconds_text(double seconds) { return seconds > 0 ? duration(seconds) : ""; }

/// Three significant digits, never as a power of ten.
std::string days_number(double days) {
  return days < 1000 ? three_digits(days) : grouped(static_cast<Size>(std::llround(days)));
}

/// Without the columns that no part has anything in.
std::string table(const std::vector<StepPart>& parts, double total) {
  struct Column {
    std::string heading;
    bool right;
    std::string (*text)(const StepPart&, double total);
  };
  const Column columns[] = {
      {"phase", false, [](const StepPart& p, double) { return std::string(p.phase); }},
      {"part", false, [](const StepPart& p, double) { return std::string(p.what); }},
      {"arithmetic", true, [](const StepPart& p, double) { return flops_text(p.flops.value()); }},
      {"memory traffic", true,
       [](const StepPart& p, double) { return bytes_text(p.bytes.value()); }},
      {"sent", true, [](const StepPart& p, double) { return bytes_text(p.sent.value()); }},
      {"takes", true, [](const StepPart& p, double) { return duration(p.seconds.value()); }},
      {"share", true,
       [](const StepPart& p, double all) {
         return fmt::format("{:.1f} %", 100 * p.seconds.value() / all);
       }},
      {"hidden", true, [](const StepPart& p, double) { return seconds_text(p.hidden.value()); }},
      {"bound by", false, [](const StepPart& p, double) { return std::string(name_of(p.bound)); }},
      {"at", false, [](const StepPart& p, double) { return p.rate; }},
  };
  std::vector<std::string> headings;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows(parts.size());
  for (const Column& column : columns) {
    std::vector<std::string> cells;
    for (const StepPart& part : parts) cells.push_back(column.text(part, total));
    if (std::ranges::all_of(cells, [](const std::string& cell) { return cell.empty(); })) continue;
    headings.push_back(column.heading);
    right.push_back(column.right);
    for (std::size_t i = 0; i < cells.size(); ++i) rows[i].push_back(std::move(cells[i]));
  }
  return aligned(headings, right, rows);
}

}  // namespace

std::string budget_line(const GivenTraining& given, const TrainingAnswer& answer) {
  if (given.token_budget == 0 || !answer.time) return {};
  return fmt::format("{} {} days.\n",
                     given.token_budget == 1 ? std::string("1 token takes")
                                             : grouped(given.token_budget) + " tokens take",
                     days_number(days_of(given, *answer.time)));
}

std::string step_time_text(const GivenTraining& given, const TrainingAnswer& answer,
                           bool with_parts) {
  if (!answer.time) return "";
  const model::StepTime& t = *answer.time;
  const model::Constant spread =
      model::training_pace(given.scenario.runtime->paced_as(), given.machine->devices.front())
          .interval;
  const bool in_fp32 = model::multiplies_in_fp32(given.scenario, given.machine->devices.front());
  const double total = t.total().value();
  std::string text = fmt::format(
      "\n{} {} ({} to {}; {}): {} tokens/s, {} of the cards' {} peak; "
      "most goes to {}.\n",
      fits(*answer.outcome) ? "A step takes" : "If it fitted, a step would take", duration(total),
      duration(total * spread.low), duration(total * spread.high),
      spread.measurements > 0 ? "from " + counted(spread.measurements, "measured step")
                              : std::string("unmeasured"),
      three_digits(t.tokens_s), percent(t.utilization), in_fp32 ? "fp32" : "16-bit",
      name_of(t.bound));
  text += budget_line(given, answer);
  if (!with_parts) return text;
  return text + "\n" + table(answer.parts, total) +
         "All passes of a step on one card of the slowest stage; parts add up to the step. hidden: "
         "work that\noverlaps with them. bound by: the resource that limits the part, at the rate "
         "on the right.\n";
}

json::array array_of(const std::vector<StepPart>& parts) {
  json::array all;
  for (const StepPart& part : parts)
    all.push_back(
        json::object{{"phase", part.phase},
                     {"part", part.what},
                     {"flops", part.flops.value()},
                     {"memory_bytes", model::rounded_up(std::round(part.bytes.value())).count()},
                     {"sent_bytes", model::rounded_up(std::round(part.sent.value())).count()},
                     {"seconds", part.seconds.value()},
                     {"hidden_s", part.hidden.value()},
                     {"bound", name_of(part.bound)},
                     {"rate", part.rate}});
  return all;
}

}  // namespace headroom::sweep
