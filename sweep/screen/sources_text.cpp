#include "sweep/screen/sources_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/infer/intervals.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

std::string in_words(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::string sources_text(std::span<const FigureSource> figures) {
  struct Group {
    std::string source;
    std::vector<std::string> figures;
  };
  std::vector<Group> groups;
  for (const FigureSource& each : figures) {
    if (each.source.empty()) continue;
    auto group = std::ranges::find(groups, each.source, &Group::source);
    if (group == groups.end()) group = groups.insert(group, {each.source, {}});
    if (std::ranges::find(group->figures, each.figure) == group->figures.end())
      group->figures.push_back(each.figure);
  }
  std::string text;
  for (const Group& group : groups)
    text += paragraph(fmt::format("{}: {}", fmt::join(group.figures, ", "), group.source));
  return text;
}

std::vector<FigureSource> sources_of(std::span<const model::Term> terms) {
  std::vector<FigureSource> all;
  for (const model::Term& term : terms) all.push_back({in_words(term.name), term.source});
  return all;
}

std::vector<FigureSource> sources_of(const GivenScenario& given,
                                     const model::Explanation& explained) {
  std::vector<FigureSource> all{{"shape of " + given.model->name, given.model->source}};
  const model::Engine& engine = *given.scenario.runtime;
  if (given.on_machine) {
    for (const Device& card : given.machine->devices) all.push_back({card.name, card.source});
    all.push_back({given.machine->host.name, given.machine->host.source});
  }
  all.push_back({fmt::format("policies of {}", engine.name), std::string(engine.source)});
  for (auto& each : sources_of(explained.terms)) all.push_back(std::move(each));
  if (given.on_machine)
    all.push_back({"intervals", std::string(model::interval_factors(given.scenario).source)});
  return all;
}

}  // namespace headroom::sweep
