// Looks the names of a spec up, and puts its grids together.
#include "sweep/spec/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "hardware/names.hpp"
#include "hardware/text_file.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/grid/digit_groups.hpp"
#include "sweep/grid/digits.hpp"
#include "sweep/grid/usual_ways.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/output.hpp"
#include "sweep/run/facts.hpp"
#include "sweep/run/fingerprint.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/spec/context_check.hpp"

namespace headroom::sweep {
namespace {

/// Draft models and heads, held as their checkpoints are.
void look_up_drafts(const Spec& spec, const Hub& hub, Names& names) {
  for (const GridSpec& grid : spec.grids)
    for (const std::string& text : grid.values("speculate")) try {
        const ServedExtra parsed = parse_extra("speculate", text);
        if (!parsed.speculation || parsed.speculation->model.empty()) continue;
        const Speculation& asked = *parsed.speculation;
        if (names.drafts.contains(asked.model)) continue;
        auto& models = names.job.models;
        model::Model draft = proposer_model(asked, hub);
        auto known = std::ranges::find(models, draft.name, [](const auto& m) { return m->name; });
        if (known == models.end()) {
          models.push_back(std::make_unique<model::Model>(std::move(draft)));
          known = models.end() - 1;
        }
        names.drafts[asked.model] =
            names.weights(known->get(), &model::scheme((*known)->checkpoint_scheme));
      } catch (const std::invalid_argument& e) {
        throw spec.error(grid, "speculate", e.what());
      }
}

/// Every model once, in parallel; what fails first in the order of the spec is reported.
Names look_up(const Spec& spec, const Catalogue& catalogue, const Hub& hub, Job& job) {
  Names names{catalogue, *job.engines, job, {}, {}, {}, {}, {}, {}, {}, {}};
  std::vector<std::string> wanted;
  std::vector<const GridSpec*> wanted_by;
  for (const auto& grid : spec.grids)
    for (const auto& name : grid.values("models"))
      if (names.models.emplace(name, nullptr).second) {
        wanted.push_back(name);
        wanted_by.push_back(&grid);
      }
  auto resolved = resolve_models(wanted, hub);
  std::map<std::string, std::string> seen;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& name = wanted[i];
    const auto* grid = wanted_by[i];
    try {
      if (resolved[i].failure) std::rethrow_exception(resolved[i].failure);
      job.models.push_back(std::make_unique<model::Model>(std::move(*resolved[i].model)));
    } catch (const UnknownName& e) {
      throw spec.error(*grid, "models", e.what());
    } catch (const std::invalid_argument& e) {
      throw spec.error(*grid, "models", e.what());
    }
    const auto [at, fresh] = seen.emplace(job.models[i]->name, name);
    if (!fresh)
      throw spec.error(
          *grid, "models",
          fmt::format("'{}' and '{}' are both called '{}'", at->second, name, at->first));
    names.models[name] = job.models[i].get();
  }
  look_up_drafts(spec, hub, names);
  return names;
}

/// Throws when the conditions together leave nothing.
void check_something_left(const Spec& spec, const GridSpec& grid, const JobGrid& job) {
  std::set<std::size_t> used;
  for (const auto& exclusion : job.exclusions)
    used.insert(exclusion.digits().begin(), exclusion.digits().end());
  std::vector<Size> radices, point(job.grid.radices().size());
  for (const auto k : used) radices.push_back(job.grid.radices()[k]);
  const Grid part(radices);
  std::vector<Size> digits(used.size());
  for (Size i = 0; i < part.size(); ++i, part.advance(digits)) {
    std::size_t k = 0;
    for (const auto digit : used) point[digit] = digits[k++];
    if (!job.excluded(point)) return;
  }
  throw spec.error(grid, "exclude", "leaves no point of this grid");
}

/// The axes behind a product above max_points, and how to make it smaller.
std::string too_many_words(const report::GridShape& shape) {
  std::vector<std::string> factors;
  double product = 1;
  std::size_t longest = 0;
  std::string longest_name;
  for (const report::Digit& digit : shape.digits) {
    const std::size_t values = digit.front().values.size();
    product *= static_cast<double>(values);
    std::vector<std::string_view> names;
    for (const report::Axis& axis : digit)
      if (report::find_column(axis.column)->kind == report::ColumnKind::axis)
        names.push_back(axis.column);
    std::string name = fmt::format("{}", fmt::join(names, ", "));
    if (names.size() > 1) name = "(" + name + ")";
    if (values > 1)
      factors.push_back(fmt::format("{} {}", name, grouped(static_cast<Size>(values))));
    if (values > longest) longest_name = name;
    longest = std::max(longest, values);
  }
  const double power = std::floor(std::log10(product));
  return fmt::format(
      "about {:.2g} * 10^{:.0f} points, where at most 10^12 are allowed: {}; give {} fewer values, "
      "by a step (\"1-1000+50\") or a factor (\"1-1024*2\"), or link axes",
      product / std::pow(10, power), power, fmt::join(factors, " × "), longest_name);
}

/// Throws where two texts are one machine, whose points would be there twice.
void check_machines(const Spec& spec, const GridSpec& grid, Names& names) {
  std::map<std::string, std::string> seen;
  for (const std::string& text : grid.values("machines")) {
    const std::string name = names.machine(text)->canonical_name();
    const auto [at, fresh] = seen.emplace(name, text);
    if (!fresh && at->second != text)  // linked axes may repeat one
      throw spec.error(grid, "machines",
                       fmt::format("'{}' and '{}' are both '{}'", at->second, text, name));
  }
}

JobGrid grid_of(const Spec& spec, const GridSpec& grid, Names& names) {
  JobGrid job;
  const bool training = grid.task == model::Task::training;
  if (training) {
    job.training = std::make_unique<TrainingGrid>(spec, grid, names);
    job.shape.digits = job.training->columns();
  } else {
    job.digits = digits_of(spec, grid, names);
    job.has_least_context = has_least_context(grid);
    for (const auto& digit : job.digits)
      job.shape.digits.push_back(columns_of(digit, names.job.prices));
  }
  check_machines(spec, grid, names);
  std::vector<Size> radices;
  for (const auto& digit : job.shape.digits)
    radices.push_back(static_cast<Size>(digit.front().values.size()));
  try {
    job.grid = Grid(radices);
  } catch (const std::length_error&) {
    throw spec.error(grid, "grid", too_many_words(job.shape));
  }
  auto& facts = job.shape.digits.front();
  const auto constant = [&](std::string_view column, std::string_view value) {
    facts.push_back({std::string(column), std::vector<report::AxisValue>(
                                              facts.front().values.size(), std::string(value))});
  };
  constant("task", training ? "training" : "inference");
  if (!training) constant("kv_cache", "on");
  if (!training)
    for (const std::string& condition : unusual_ways(grid, names)) {
      job.exclusions.emplace_back(condition, job.shape);
      job.shape.excluded += condition + '\n';
    }
  for (const auto& condition : grid.exclude) try {
      job.exclusions.emplace_back(condition, job.shape);
      job.shape.excluded += condition + '\n';
    } catch (const std::invalid_argument& e) {
      throw spec.error(grid, "exclude", e.what());
    }
  check_something_left(spec, grid, job);
  check_contexts(spec, grid, job);
  return job;
}

}  // namespace

bool JobGrid::excluded(std::span<const Size> point) const {
  for (const Exclusion& exclusion : exclusions)
    if (exclusion.excludes(point)) return true;
  return false;
}

model::Scenario JobGrid::scenario(std::span<const Size> point) const {
  Choice all;
  for (std::size_t k = 0; k < digits.size(); ++k)
    overlay(all, digits[k][static_cast<std::size_t>(point[k])]);
  if (all.decides.gpu_budget < Bytes(0)) all.decides.gpu_budget = model::unlimited;
  model::Scenario& s = all.decides;
  s.prompt_tokens += all.image_tokens;
  if (has_least_context) s.least_context = least_usual_context(s, *s.weights->model);
  return s;
}

model::Estimate JobGrid::evaluate(std::span<const Size> point, Evaluators& evaluators) const {
  if (training) return training->evaluate(point, evaluators.training);
  const model::Scenario s = scenario(point);
  return evaluators.inference[s.machine](s);
}

Size Job::points() const {
  Size all = 0;
  for (const auto& grid : grids) all += grid.grid.size();
  return all;
}

std::pair<const JobGrid*, Size> Job::locate(Size index) const {
  for (const auto& grid : grids) {
    if (index < grid.grid.size()) return {&grid, index};
    index -= grid.grid.size();
  }
  throw std::out_of_range("no such point");
}

namespace {

/// Facts of everything that the axes name and fingerprint.
std::map<std::int64_t, std::vector<report::Fact>> known_facts(const Job& job) {
  std::map<std::int64_t, std::vector<report::Fact>> all;
  const auto add = [&](const auto& rows) {
    const std::vector<std::int64_t> found = fingerprints(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [at, added] = all.try_emplace(found[i]);
      if (added) at->second = facts_of(*rows[i]);
    }
  };
  std::vector<const model::Model*> models;
  for (const auto* list : {&job.models, &job.loaded_models})
    for (const auto& model : *list) models.push_back(model.get());
  std::vector<const Machine*> machines;
  for (const auto& machine : job.machines) machines.push_back(machine.get());
  std::vector<const model::Engine*> engines;
  for (const auto& grid : job.grids)
    for (const auto& digit : grid.digits)
      for (const Choice& choice : digit)
        if (choice.decides.runtime) engines.push_back(choice.decides.runtime);
  add(models);
  add(machines);
  add(engines);
  return all;
}

}  // namespace

report::RunInfo Job::info(const Spec& spec) const {
  report::RunInfo info{spec.name, spec.text, {}, program_version(), {}};
  for (const auto& grid : grids) info.grids.push_back(grid.shape);
  for (const auto& model : models)
    info.models.push_back(
        {model->name, model->source, fmt::format("{}", fmt::join(model::doubts(*model), "; "))});
  info.facts = known_facts(*this);
  info.fingerprint = fingerprint(info);
  return info;
}

Job make_job(const Spec& spec, const Catalogue& catalogue, const Hub& hub,
             std::shared_ptr<const Engines> engines) {
  Job job;
  job.engines = engines ? std::move(engines) : std::make_shared<const Engines>();
  if (!spec.prices.empty()) {
    const std::string file = spec.prices.string();
    job.prices = read_prices(read_text_file(file, "prices in TOML"), file, catalogue);
  }
  Names names = look_up(spec, catalogue, hub, job);
  for (const auto& grid : spec.grids) {
    job.grids.push_back(grid_of(spec, grid, names));
    if (job.points() > max_points)
      throw spec.error(
          grid, "grid",
          fmt::format("the grids so far have {} points together, where at most 10^12 are allowed; "
                      "put this one into a spec of its own",
                      grouped(job.points())));
  }
  return job;
}

}  // namespace headroom::sweep
