// Axes of a grid that move together, on the way to its digits (sweep/grid/digits.hpp).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/grid/digits.hpp"

namespace headroom::sweep {

/// One digit to be: its axes by key, and the choices that it goes through.
struct DigitGroup {
  std::vector<std::string> axes;
  std::vector<Choice> choices;
  bool has(std::string_view axis) const { return std::ranges::find(axes, axis) != axes.end(); }
};
using DigitGroups = std::vector<DigitGroup>;

/// Linked axes together, each other axis alone. A grid that names no engine has the ways that
/// estimate compares; precisions that it names go to engines that read them. Budgets that are not
/// linked are left out: they are each machine's own. Throws SpecError.
DigitGroups digit_groups(const Spec& spec, const GridSpec& grid, Names& names);

/// The group that has `axis`; one must.
DigitGroup& group_with(DigitGroups& groups, std::string_view axis);

/// Makes the groups that hold `first` and `second` one, where the latter stood.
DigitGroup& merge(DigitGroups& groups, std::string_view first, std::string_view second);

/// Choices without repeats.
std::vector<Choice> distinct(const std::vector<Choice>& choices);

/// The format that "auto" is for each model and engine. If they differ, the KV precisions share
/// the digit of the models, and of the engines.
void set_caches(DigitGroups& groups);

/// True if each point of the grid has at least least_usual_context(): the spec names prompts or
/// outputs, which differ from point to point, but no context.
bool has_least_context(const GridSpec& grid);

/// The context that the commands for one point take too, where the spec names no lengths.
/// Batches share the digit of the models where a model's context is shorter, and engines do where
/// one has a context of its own.
void set_contexts(const GridSpec& grid, DigitGroups& groups);

}  // namespace headroom::sweep
