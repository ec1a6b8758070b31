#include "sweep/accuracy/calibrate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>

#include "hardware/quantity_text.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

json::object figures_object(const ErrorFigures& e) {
  return {{"median", e.median}, {"p90", e.p90}};
}

/// Outliers: rows that are far from the fit compared with the others.
std::string outliers(const Calibration& c) {
  std::vector<double> errors;
  for (const FittedRow& row : c.rows) errors.push_back(std::abs(row.after / row.measured - 1));
  std::vector<double> sorted = errors;
  std::ranges::sort(sorted);
  const double far = std::max(0.3, 4 * (sorted.empty() ? 0 : sorted[sorted.size() / 2]));
  std::string text;
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i] > far)
      text += fmt::format("Far off     {} ({}): {:+.0f} %, of little weight in the fit\n",
                          (*c.rows[i].row)["id"], (*c.rows[i].row)["figure"],
                          100 * (c.rows[i].after / c.rows[i].measured - 1));
  return text;
}

std::string text_of(const Calibration& c) {
  std::string text =
      fmt::format("\n{}: {}\n", c.runtime, counted(std::ssize(c.rows), "measurement"));
  if (c.rows.size() < fewest_measurements)
    return text + fmt::format(
                      "Not fitted  at least {} measurements of an engine are needed: "
                      "llama-bench -p 512,2048 -n 128,256 makes four\n",
                      fewest_measurements);
  std::vector<std::vector<std::string>> rows;
  for (const FittedConstant& each : c.constants) {
    const Factor& f = each.factor;
    const bool interval = f.name.ends_with("_interval");
    rows.push_back({f.name + (f.cards == "any" ? "" : fmt::format(" ({}, {})", f.cards, f.width)),
                    interval ? "" : fmt::format("{:.4g}", each.before),
                    interval ? "" : fmt::format("{:.4g}", f.value),
                    fmt::format("{:.4g} to {:.4g}", f.low, f.high),
                    fmt::format("{}", f.measurements)});
  }
  if (!rows.empty())
    text += aligned({"constant", "shipped", "fitted", "range", "rows"},
                    {false, true, true, true, true}, rows);
  for (const NotFitted& each : c.not_fitted)
    text += fmt::format("Not fitted  {}: {}\n", each.name, each.why);
  if (c.constants.empty()) return text + "Not fitted  these measurements determine no constant\n";
  text += fmt::format(
      "Error       before    {}\n            after     {}\n            left out  {} "
      "(fitted without {} in turn)\n",
      words_of(errors_of(c.rows, &FittedRow::before)),
      words_of(errors_of(c.rows, &FittedRow::after)),
      words_of(errors_of(c.rows, &FittedRow::left_out)), c.folds);
  text += outliers(c);
  if (!c.supported())
    text +=
        "Not kept    estimates of left-out rows do not improve: the measurements do not support "
        "these constants\n";
  return text;
}

/// One by one; where they are many, counted with an example of each kind.
std::string left_out_text(const std::vector<Unused>& unused) {
  constexpr std::size_t many = 12;
  std::string text;
  std::map<std::string, std::pair<int, const Unused*>> kinds;
  for (const Unused& each : unused) {
    auto& [count, first] = kinds[each.kind];
    if (count++ == 0) first = &each;
    if (unused.size() <= many) text += fmt::format("Left out    {}: {}\n", each.id, each.why);
  }
  if (unused.size() <= many) return text;
  for (const auto& [kind, rows] : kinds)
    text += fmt::format("Left out    {}: {}, such as {}: {}\n", rows.first, kind, rows.second->id,
                        rows.second->why);
  return text;
}

}  // namespace

std::string calibration_text(const CalibrationReport& found) {
  std::string text;
  for (const MeasuredFile& file : found.files) {
    text += fmt::format("Read        {}: {}, {}\n", file.path, file.format,
                        counted(std::ssize(file.rows), "measurement"));
    for (const auto& note : file.notes) text += "            " + note + '\n';
  }
  const auto rate = [&](std::string_view name, const std::optional<BytesPerSecond>& value) {
    if (value) text += fmt::format("Host        {} {:.4g} GB/s\n", name, value->value() / 1e9);
  };
  rate("RAM bandwidth", found.profile.host.ram_bandwidth);
  rate("bus to a card", found.profile.host.host_bus);
  rate("disk read", found.profile.host.disk_read);
  text += left_out_text(found.unused);
  text += fmt::format("Used        {} of {}{}{}\n", found.used,
                      counted(static_cast<Size>(found.used + found.unused.size()), "measurement"),
                      found.profile.machine.empty() ? "" : ", of ", found.profile.machine);
  for (const Calibration& each : found.calibrations) text += text_of(each);
  return text;
}

json::object calibration_object(const CalibrationReport& found) {
  json::array unused, engines;
  for (const Unused& each : found.unused)
    unused.push_back(json::object{{"id", each.id}, {"reason", each.why}});
  for (const Calibration& c : found.calibrations) {
    json::array constants, not_fitted, rows;
    for (const FittedConstant& each : c.constants)
      constants.push_back(json::object{{"name", each.factor.name},
                                       {"cards", each.factor.cards},
                                       {"width", each.factor.width},
                                       {"shipped", each.before},
                                       {"value", each.factor.value},
                                       {"low", each.factor.low},
                                       {"high", each.factor.high},
                                       {"measurements", each.factor.measurements}});
    for (const NotFitted& each : c.not_fitted)
      not_fitted.push_back(json::object{{"name", each.name}, {"reason", each.why}});
    for (const FittedRow& each : c.rows)
      rows.push_back(json::object{{"id", (*each.row)["id"]},
                                  {"figure", (*each.row)["figure"]},
                                  {"measured", each.measured},
                                  {"before", each.before},
                                  {"after", each.after},
                                  {"left_out", each.left_out}});
    engines.push_back(json::object{
        {"runtime", c.runtime},
        {"kept", c.supported()},
        {"constants", std::move(constants)},
        {"not_fitted", std::move(not_fitted)},
        {"errors",
         json::object{{"before", figures_object(errors_of(c.rows, &FittedRow::before))},
                      {"after", figures_object(errors_of(c.rows, &FittedRow::after))},
                      {"left_out", figures_object(errors_of(c.rows, &FittedRow::left_out))}}},
        {"rows", std::move(rows)}});
  }
  return {{"machine", found.profile.machine},
          {"used", found.used},
          {"left_out", std::move(unused)},
          {"engines", std::move(engines)}};
}

std::string words_of(const ErrorFigures& e) {
  return fmt::format("median {:.1f} %, 90th percentile {:.1f} %", 100 * e.median, 100 * e.p90);
}

}  // namespace headroom::sweep
