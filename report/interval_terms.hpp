// Derived columns: one expression gives the value in C++ (CSV, curves) and in SQL (the views).
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/infer/intervals.hpp"
#include "report/columns.hpp"

namespace headroom::report {

/// A stored value that derived columns are computed from.
struct StoredValue {
  std::string_view column, table;  ///< table: empty: outcome itself
  double (*value)(const model::Estimate&);
};

/// A text of SQL with the operators of a number. The name of a fact stands in brackets.
struct Sql {
  std::string text;
};
inline Sql operator+(const Sql& a, const Sql& b) { return {"(" + a.text + " + " + b.text + ")"}; }
inline Sql operator-(const Sql& a, const Sql& b) { return {"(" + a.text + " - " + b.text + ")"}; }
inline Sql operator*(const Sql& a, const Sql& b) { return {"(" + a.text + " * " + b.text + ")"}; }
inline Sql operator/(const Sql& a, const Sql& b) { return {"(" + a.text + " / " + b.text + ")"}; }

/// The terms of model::IntervalRules in SQL.
struct SqlTerms {
  using Value = Sql;
  Sql factor(model::Factor of, model::IntervalPart part) const;
  Sql guess(model::Guess of, model::IntervalPart part) const;
  Sql first_least() const;
  Sql step_least() const;
  Sql first_share() const;
  static Sql one();
  Sql on_cards() const;
  Sql first_unmeasured() const;
  Sql step_unmeasured() const;
  Sql either_unmeasured() const;
  Sql single_request() const;
  static Sql min(const Sql& a, const Sql& b) { return {"min(" + a.text + ", " + b.text + ")"}; }
  static Sql max(const Sql& a, const Sql& b) { return {"max(" + a.text + ", " + b.text + ")"}; }
  static Sql choose(const Sql& condition, const Sql& yes, const Sql& no);

  static Sql stored(const StoredValue& of);
  /// The value as a whole number, cut off.
  static Sql whole(const Sql& value) { return {"CAST(" + value.text + " AS INTEGER)"}; }
  /// Empty where `of` is empty.
  static Sql where_known(const StoredValue& of, const Sql& value);
};

/// The terms as numbers of one estimate. NaN stands for an empty value.
struct NumberTerms : model::IntervalNumbers {
  struct Whole {
    double value;
  };
  double stored(const StoredValue& of) const { return of.value(estimate); }
  static Whole whole(double value) { return {value}; }
  double where_known(const StoredValue& of, double value) const {
    return std::isfinite(stored(of)) ? value : std::numeric_limits<double>::quiet_NaN();
  }
};
inline Cell cell_of(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }
inline Cell cell_of(NumberTerms::Whole whole) {
  return std::isfinite(whole.value) ? Cell(static_cast<std::int64_t>(whole.value)) : Cell();
}

template <class Terms>
model::IntervalRules<Terms> rules(const Terms& terms, model::IntervalPart part) {
  return {terms, part};
}

/// A column with the value `rule(terms, part)`, shown as `like` is.
template <model::IntervalPart part, class Rule>
Column derived_column(const Column& like, std::string_view name, std::string_view meaning, Rule) {
  Column column = like;
  column.name = column.heading = name;
  column.meaning = meaning;
  column.kind = ColumnKind::derived;
  column.origin = +[](const model::Estimate& e, const model::IntervalFactors& f) {
    return cell_of(Rule{}(NumberTerms{{f, e, e.served.running}}, part));
  };
  column.sql = Rule{}(SqlTerms{}, part).text;
  return column;
}

/// The low and the high end of the column added last.
template <class Rule>
void add_interval(std::vector<Column>& all, std::string_view low, std::string_view high,
                  Rule rule) {
  const Column of = all.back();
  all.push_back(derived_column<model::IntervalPart::low>(
      of, low, "low end of the interval around the column before", rule));
  all.push_back(
      derived_column<model::IntervalPart::high>(of, high, "high end of the same interval", rule));
}

}  // namespace headroom::report
