// The axes of a grid as rows of one table for each task. A row has the key of the spec, the column
// of the database, and the effect of a value on a point.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/spec/spec.hpp"

namespace headroom::sweep {

struct Names;

enum class AxisValues { names, numbers, budgets };

/// Facts about an axis for the reader of a spec.
struct AxisForm {
  std::string_view key;
  std::string_view column;  ///< empty: columns of its own (models, machines, runtimes, adapters)
  std::string_view usual;   ///< the value without the key; empty: none, and no column
  AxisValues values = AxisValues::names;
  Size least = 1;   ///< least value of a number
  double unit = 0;  ///< not 0: the column has the number times this
};

template <class Draft>
using Change = std::function<void(Draft&)>;

/// `Draft`: a point while its digits are put together. Draft::Number: a member that is a number.
template <class Draft>
struct Axis {
  AxisForm form;
  /// Throws std::invalid_argument, UnknownName. Null: the value goes into `number`.
  Change<Draft> (*value)(const std::string& text, Names& names) = nullptr;
  typename Draft::Number number = nullptr;

  Change<Draft> change(const std::string& text, Names& names) const {
    if (value) return value(text, names);
    return [member = number, n = Size{std::stoll(text)}](Draft& d) { d.numbers().*member = n; };
  }
};

/// Axis forms of a task, in the order of its digits.
const std::vector<AxisForm>& axis_forms(model::Task task);

/// Axes that share a digit, and what each of its values changes.
template <class Draft>
struct LinkGroup {
  std::vector<const Axis<Draft>*> axes;
  std::vector<std::vector<Change<Draft>>> values;
};

/// Linked axes together, each other axis alone, in the order of `axes`. An axis without values has
/// no group. Throws SpecError.
template <class Draft>
std::vector<LinkGroup<Draft>> link_groups(const Spec& spec, const GridSpec& grid,
                                          std::span<const Axis<Draft>> axes, Names& names) {
  std::vector<LinkGroup<Draft>> groups;
  std::set<std::string_view> placed;
  for (const Axis<Draft>& axis : axes) {
    const std::string key(axis.form.key);
    if (grid.values(key).empty() || placed.contains(key)) continue;
    const auto* link = grid.link_of(key);
    auto& group = groups.emplace_back();
    group.values.resize(grid.values(key).size());
    for (const std::string& member : link ? *link : std::vector<std::string>{key}) {
      const auto row =
          std::ranges::find(axes, member, [](const Axis<Draft>& each) { return each.form.key; });
      placed.insert(row->form.key);
      group.axes.push_back(&*row);
      try {
        for (std::size_t i = 0; i < group.values.size(); ++i)
          group.values[i].push_back(row->change(grid.values(member)[i], names));
      } catch (const std::exception& e) {
        throw spec.error(grid, member, e.what());
      }
    }
  }
  return groups;
}

/// The index of `text` among `words`. Throws with all of them.
inline std::size_t one_of(const std::string& text, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, text);
  if (found == words.end())
    throw std::invalid_argument(
        fmt::format("found '{}', expected one of {}", text, fmt::join(words, ", ")));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace headroom::sweep
