#include "sweep/run/unchanged.hpp"

#include <exception>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/text_file.hpp"
#include "report/run_info.hpp"
#include "report/store.hpp"
#include "sweep/grid/extra_axes.hpp"
#include "sweep/options/speculation.hpp"
#include "sweep/run/facts.hpp"
#include "sweep/run/fingerprint.hpp"
#include "sweep/run/hash.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

/// No content depends on these. A token decides only if a model can be had.
const std::set<std::string_view> without_effect{"fresh", "hub-token", "jobs", "log-format"};

/// Options, and the files that they name.
void add_options(const Options& options, Hash& hash) {
  for (const auto& [flag, values] : options.all()) {
    if (without_effect.contains(flag)) continue;
    hash.add(flag);
    hash.add(values);
    std::error_code error;
    for (const std::string& value : values)
      if (fs::is_regular_file(value, error)) hash.add(read_text_file(value));
  }
}

void add_spec(const Spec& spec, Hash& hash) {
  hash.add(spec.name);
  hash.add(spec.text);
  for (const auto* files : {&spec.hardware, &spec.engines})
    for (const auto& file : *files) hash.add(read_text_file(file.string()));
  if (!spec.prices.empty()) hash.add(read_text_file(spec.prices.string()));
}

/// Everything that a run stores of an object, with the columns of its name.
template <class Each>
void add(const Each& each, const report::Digit& columns, Hash& hash) {
  hash.add(fingerprint(each));
  hash.add(facts_of(each));
  hash.add(columns);
}

void add_machine(const std::string& text, const Catalogue& catalogue, Hash& hash) {
  const Machine machine = parse_machine(text, catalogue);
  const Machine* const pointer = &machine;
  add(machine, report::machine_digit({&machine.name, 1}, {&pointer, 1}), hash);
}

void add_model(const model::Model& model, Hash& hash) {
  const model::Model* const pointer = &model;
  add(model, report::model_digit({&model.name, 1}, {&pointer, 1}), hash);
  hash.add(model.source);
  hash.add(model::doubts(model));
}

/// Models that the program does not contain; drafts and heads too.
void add_models(const Spec& spec, const Hub& hub, Hash& hash) {
  std::set<std::string> outside;
  for (const GridSpec& grid : spec.grids) {
    for (const std::string& text : grid.values("models"))
      if (!in_catalogue(text)) outside.insert(text);
    for (const std::string& text : grid.values("speculate")) {
      const auto asked = parse_extra("speculate", text).speculation;
      if (asked && !asked->model.empty() && !in_catalogue(asked->model))
        add_model(proposer_model(*asked, hub), hash);
    }
  }
  const std::vector<std::string> names(outside.begin(), outside.end());
  if (names.empty()) return;
  for (const Resolved& each : resolve_models(names, hub)) {
    if (each.failure) std::rethrow_exception(each.failure);
    add_model(*each.model, hash);
  }
}

}  // namespace

std::string inputs_of(const Options& options, const Spec& spec, const Catalogue& catalogue,
                      const Hub& hub) try {
  Hash hash;
  add_options(options, hash);
  add_spec(spec, hash);
  for (const GridSpec& grid : spec.grids)
    for (const std::string& text : grid.values("machines")) add_machine(text, catalogue, hash);
  add_models(spec, hub, hash);
  return hash.text();
} catch (const std::exception&) {
  return {};  // who looks the names up says what is wrong with them
}

std::optional<report::RunSummary> repeat_latest_run(const fs::path& file,
                                                    std::string_view fingerprint) {
  report::Store store(file);
  const report::Database database(file);
  const std::int64_t run = database.latest_run();
  if (database.summary(run).fingerprint != fingerprint) return std::nullopt;
  store.begin_run(database.run(run), report::Unfinished::leave);
  std::vector<report::RowRange> pieces;
  for (const report::Extent& each : database.extents(run))
    pieces.push_back({each.first, each.points, each.row});
  store.append(pieces, {}, {}, database.summary(run).points);
  const auto contexts = database.longest_contexts(run);
  store.keep_longest_contexts(std::vector<std::pair<Size, Size>>(contexts.begin(), contexts.end()));
  store.finish_run();
  return database.summary(store.run_id());
}

}  // namespace headroom::sweep
