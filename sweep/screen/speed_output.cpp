#include "sweep/screen/speed_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/answer/span_words.hpp"
#include "model/infer/intervals.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Bound;
using model::PassBreakdown;
using model::PassPart;
using model::Span;

constexpr Bound bounds[] = {Bound::memory, Bound::compute, Bound::link, Bound::overhead};

/// An amount that a table of text and JSON have in common.
struct Amount {
  std::string_view name, heading;
  double PassPart::*value;
};
constexpr Amount byte_counts[] = {
    {"weights_bytes", "weights", &PassPart::weight_bytes},
    {"experts_bytes", "experts", &PassPart::expert_bytes},
    {"kv_cache_bytes", "KV cache", &PassPart::cache_bytes},
    {"state_bytes", "state", &PassPart::state_bytes},
    {"repeated_bytes", "K, V repeated", &PassPart::kv_repeat_bytes},
    {"moved_bytes", "moved", &PassPart::moved_bytes},
};
constexpr Amount times[] = {
    {"memory_s", "memory", &PassPart::memory_s},
    {"compute_s", "compute", &PassPart::compute_s},
    {"link_s", "link", &PassPart::link_s},
    {"overhead_s", "overhead", &PassPart::overhead_s},
};

template <class Amounts>
std::vector<Amount> used(const PassBreakdown& pass, const Amounts& amounts) {
  std::vector<Amount> all;
  for (const Amount& each : amounts)
    if (std::ranges::any_of(pass.parts, [&](const PassPart& p) { return p.*each.value > 0; }))
      all.push_back(each);
  return all;
}

std::string table(const PassBreakdown& pass) {
  const auto counts = used(pass, byte_counts), seconds = used(pass, times);
  std::vector<std::string> headings{"part", "on"};
  for (const Amount& each : counts) headings.emplace_back(each.heading);
  headings.emplace_back("arithmetic");
  for (const Amount& each : seconds) headings.emplace_back(each.heading);
  headings.insert(headings.end(), {"takes", "bound by"});
  std::vector<bool> right(headings.size(), true);
  right[0] = right[1] = right.back() = false;
  std::vector<std::vector<std::string>> rows;
  for (const PassPart& part : pass.parts) {
    auto& row = rows.emplace_back(std::vector<std::string>{part.what, part.where});
    for (const Amount& each : counts) {
      const double bytes = part.*each.value;
      row.push_back(bytes > 0 ? to_text(Bytes(static_cast<Size>(std::llround(bytes)))) : "");
    }
    row.push_back(flops_text(part.flops));
    for (const Amount& each : seconds)
      row.push_back(part.*each.value > 0 ? duration(part.*each.value) : "");
    row.push_back(duration(part.seconds));
    row.emplace_back(name_of(part.bound));
  }
  return aligned(headings, right, rows);
}

std::string span_table(const PassBreakdown& pass) {
  std::vector<std::vector<std::string>> rows;
  for (const Span& span : pass.spans)
    rows.push_back({span.name, span.where, amount_words(span), rate_words(span),
                    duration(span.seconds.value()),
                    span.hidden > Seconds() ? duration(span.hidden.value()) : ""});
  return aligned({"operation", "on", "amount", "rate", "takes", "hidden"},
                 {false, false, true, true, true, true}, rows);
}

std::string pass_words(const PassBreakdown& pass) {
  const bool first = pass.name == "ttft";
  std::string text = fmt::format("{}, {}", first ? "Time to first token" : "Time per output token",
                                 duration(pass.seconds));
  std::string_view sign = ": ";
  for (const Bound bound : bounds)
    if (const double share = pass.of(bound) / pass.seconds; share >= 0.0005) {
      text += fmt::format("{}{:.1f} % {}", sign, 100 * share, name_of(bound));
      sign = ", ";
    }
  return text;
}

json::array span_array(const PassBreakdown& pass) {
  json::array spans;
  for (const Span& span : pass.spans)
    spans.push_back(json::object{{"name", span.name},
                                 {"where", span.where},
                                 {"amount", span.amount},
                                 {"unit", span.unit},
                                 {"rate_s", span.rate},
                                 {"seconds", span.seconds.value()},
                                 {"hidden_s", span.hidden.value()},
                                 {"formula", span.formula},
                                 {"measurements", span.constant->measurements},
                                 {"source", span.constant->source}});
  return spans;
}

}  // namespace

std::string measured_words(const model::Interval& interval) {
  return interval.measurements == 0 ? std::string("unmeasured")
                                    : counted(interval.measurements, "row");
}

std::string flops_text(double flops) {
  if (flops <= 0) return "";
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  const auto by = std::min<std::size_t>(
      static_cast<std::size_t>(std::log10(std::max(flops, 1.0)) / 3), std::size(prefixes) - 1);
  return fmt::format("{:.3g} {}FLOP", flops / std::pow(1000.0, static_cast<double>(by)),
                     prefixes[by]);
}

std::string speed_text(const std::vector<PassBreakdown>& passes) {
  std::string text;
  std::vector<std::pair<std::string, std::string>> rates;
  for (const PassBreakdown& pass : passes) {
    text += pass_words(pass) + "\n\n" + table(pass) + '\n' + span_table(pass) + '\n';
    for (const PassPart& part : pass.parts) {
      const std::pair line{part.where, part.rates};
      if (std::ranges::find(rates, line) == rates.end()) rates.push_back(line);
    }
  }
  if (rates.empty()) return text;
  text += "Compared with (share of the hardware's)\n";
  for (const auto& [where, rate] : rates) text += wrapped(fmt::format("{}: {}", where, rate), 2, 4);
  text +=
      "memory, compute, link, overhead: time of the part by that resource alone. takes: its share "
      "of the\nprinted time; parts add up to it, and so do operations. hidden: work that overlaps "
      "with others.\nLayers on one device share a roofline. Activations that stay on a device are "
      "not "
      "counted.\n\n";
  return text;
}

json::array speed_array(const std::vector<PassBreakdown>& passes) {
  json::array all;
  for (const PassBreakdown& pass : passes) {
    json::object by_bound;
    for (const Bound bound : bounds) by_bound[name_of(bound)] = pass.of(bound);
    json::array parts;
    for (const PassPart& part : pass.parts) {
      json::object one{{"part", part.what}, {"where", part.where}};
      for (const Amount& each : byte_counts)
        one[each.name] = static_cast<Size>(std::llround(part.*each.value));
      one["flops"] = part.flops;
      for (const Amount& each : times) one[each.name] = part.*each.value;
      one["seconds"] = part.seconds;
      one["bound"] = name_of(part.bound);
      one["rates"] = part.rates;
      parts.push_back(std::move(one));
    }
    all.push_back(json::object{{"name", pass.name},
                               {"seconds", pass.seconds},
                               {"bound_s", std::move(by_bound)},
                               {"parts", std::move(parts)},
                               {"spans", span_array(pass)}});
  }
  return all;
}

}  // namespace headroom::sweep
