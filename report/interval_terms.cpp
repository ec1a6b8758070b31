#include "report/interval_terms.hpp"

#include <fmt/format.h>

#include "report/packed_field.hpp"

namespace headroom::report {
namespace {

using model::IntervalPart;

std::string_view ending(IntervalPart part) {
  constexpr std::string_view names[] = {"low", "high", "measurements"};
  return names[static_cast<int>(part)];
}

/// With a point, so that SQLite does not divide whole numbers.
std::string real_literal(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

Sql fact(std::string_view name, IntervalPart part) {
  return {fmt::format("[{}_{}]", name, ending(part))};
}

Sql least(const PackedField& field) {
  return {fmt::format("({}) / {}", field.sql(), real_literal(model::max_low_share))};
}

}  // namespace

Sql SqlTerms::factor(model::Factor of, IntervalPart part) const {
  constexpr std::string_view names[] = {"memory",  "load",         "ttft",         "tpot",
                                        "offload", "serving_ttft", "serving_tpot", "serving_rate"};
  const Sql named = fact(names[static_cast<int>(of)], part);
  if (of != model::Factor::offload) return named;
  return choose({"[ram_stated]"}, fact("ram_stated", part), named);
}

Sql SqlTerms::guess(model::Guess of, IntervalPart part) const {
  const model::Interval& guess =
      of == model::Guess::first ? model::unmeasured_first : model::unmeasured_step;
  if (part == IntervalPart::measurements) return {fmt::format("{}", guess.measurements)};
  return {real_literal(part == IntervalPart::low ? guess.low : guess.high)};
}

Sql SqlTerms::first_least() const { return least(packed::first_least); }
Sql SqlTerms::step_least() const { return least(packed::step_least); }

Sql SqlTerms::first_share() const { return {"coalesce(ttft_s / total_s, 0.0)"}; }
Sql SqlTerms::one() { return {real_literal(1)}; }

Sql SqlTerms::on_cards() const {
  return {
      fmt::format("{} <= {}", packed::verdict.sql(), static_cast<int>(model::Verdict::fits_gpus))};
}
Sql SqlTerms::first_unmeasured() const { return {packed::first_unmeasured.sql()}; }
Sql SqlTerms::step_unmeasured() const { return {packed::step_unmeasured.sql()}; }
Sql SqlTerms::either_unmeasured() const {
  return {
      fmt::format("({}) OR ({})", packed::first_unmeasured.sql(), packed::step_unmeasured.sql())};
}
Sql SqlTerms::single_request() const {
  return {stored({"running", "serving_outcome", nullptr}).text + " = 1"};
}

Sql SqlTerms::choose(const Sql& condition, const Sql& yes, const Sql& no) {
  return {fmt::format("CASE WHEN {} THEN {} ELSE {} END", condition.text, yes.text, no.text)};
}

Sql SqlTerms::stored(const StoredValue& of) {
  if (of.table.empty()) return {std::string(of.column)};
  return {fmt::format("(SELECT {} FROM {} WHERE id = o.id)", of.column, of.table)};
}

Sql SqlTerms::where_known(const StoredValue& of, const Sql& value) {
  return {fmt::format("CASE WHEN {} IS NULL THEN NULL ELSE {} END", stored(of).text, value.text)};
}

}  // namespace headroom::report
