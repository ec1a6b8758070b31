// Digits as the database keeps them: columns of axis values and of the facts that follow from them.
#include "sweep/digits.hpp"

namespace headroom::sweep {

using report::AxisValue;

report::Digit columns_of(const std::vector<Choice>& digit) {
  report::Digit columns;
  const Choice& first = digit.front();
  const auto add = [&](std::string_view name, auto&& value) {
    report::Axis axis{std::string(name), {}};
    for (const Choice& choice : digit) axis.values.push_back(value(choice));
    columns.push_back(std::move(axis));
  };
  const auto add_rows = [&](auto member, auto make) {
    std::vector<std::string> names;
    std::vector<std::decay_t<decltype(first.*member)>> rows;
    for (const Choice& choice : digit) {
      names.emplace_back((choice.*member)->name);
      rows.push_back(choice.*member);
    }
    auto made = make(names, rows);
    columns.insert(columns.end(), made.begin(), made.end());
  };
  if (first.weights) {
    add_rows(&Choice::model, report::model_digit);
    add("precision",
        [](const Choice& c) { return AxisValue(std::string(c.weights->scheme->name)); });
  }
  if (first.kv_precision)
    add("kv_precision",
        [](const Choice& c) { return AxisValue(std::string(c.kv_precision->name)); });
  if (first.batch > 0) add("batch", [](const Choice& c) { return AxisValue(c.batch); });
  if (first.prompt_tokens > 0)
    add("prompt_tokens", [](const Choice& c) { return AxisValue(c.prompt_tokens); });
  if (first.output_tokens > 0)
    add("output_tokens", [](const Choice& c) { return AxisValue(c.output_tokens); });
  if (first.context > 0) add("context", [](const Choice& c) { return AxisValue(c.context); });
  if (first.runtime) add_rows(&Choice::runtime, report::runtime_digit);
  if (first.machine) add_rows(&Choice::machine, report::machine_digit);
  if (first.gpu_budget >= Bytes(0))
    add("gpu_budget_bytes", [](const Choice& c) { return AxisValue(c.gpu_budget.count()); });
  return columns;
}

}  // namespace headroom::sweep
