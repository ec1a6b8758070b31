// Text output of params.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/components.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/params_facts.hpp"
#include "sweep/sources/model_counts.hpp"

namespace headroom::sweep {
namespace {

using model::Comparison;
using model::Detail;
using model::Model;

/// Differences that a text shows; --tensors and json have all.
constexpr std::size_t most_shown = 10;

/// Parts of the model that a text shows; json has all.
constexpr std::size_t most_parts = 12;

using PartCounts = std::vector<std::pair<std::string, Size>>;

/// These counts by the first `depth` names of each path.
PartCounts cut_at(const PartCounts& all, std::size_t depth) {
  PartCounts cut;
  for (const auto& [path, count] : all) {
    const std::string name(first_names(path, depth));
    const auto same = std::ranges::find(cut, name, &PartCounts::value_type::first);
    if (same == cut.end())
      cut.emplace_back(name, count);
    else
      same->second += count;
  }
  return cut;
}

/// Counts by part of the model, by the longest paths that leave few of them.
PartCounts shown_parts(const Model& model) {
  const PartCounts all = parameter_groups(model);
  PartCounts shown = all;
  std::size_t depth = 1;
  for (const auto& [path, count] : all)
    depth = std::max(depth, static_cast<std::size_t>(std::ranges::count(path, '.')) + 1);
  while (shown.size() > most_parts && --depth > 0) shown = cut_at(all, depth);
  return shown;
}

/// Modules in the checkpoint that the counts above omit.
template <class F>
void prediction_rows(const Model& model, F&& row) {
  const auto& prediction = model.multi_token_prediction;
  if (prediction.modules == 0) return;
  const std::string modules = fmt::format("{} multi-token-prediction module{}", prediction.modules,
                                          prediction.modules > 1 ? "s" : "");
  if (prediction.source.empty())
    return row("further, not counted", 0, modules + ", not described for " + model.architecture);
  const Further further = further_of(prediction);
  row("further, in checkpoints", further.parameters, modules);
  if (further.copies > 0)
    row("… and copies", further.copies, "second copies of embedding and head");
}

std::string assumptions(const Model& model) {
  std::string text;
  if (!model.assumed.empty())
    text += wrapped(fmt::format("assumed: {}", fmt::join(model.assumed, ", ")), 2, 4);
  // difference_lines() has what tensors say.
  for (const std::string& doubt : doubts_of_config(model))
    text += wrapped("warning: " + doubt, 2, 4);
  return text;
}

using Rows = std::vector<std::vector<std::string>>;

std::string in_tensors(Size number) { return " in " + counted(number, "tensor"); }

void add_stored_rows(const Model& model, Rows& rows) {
  const model::Stored& stored = *model.stored;
  const auto row = [&](std::string name, std::string count, Bytes bytes, std::string note) {
    rows.push_back(
        {"  " + std::move(name), std::move(count), grouped(bytes.count(), "byte") + note});
  };
  const auto* totals = stored_totals(model);
  if (totals == nullptr) {
    row("in the checkpoint", "", stored.list.total,
        stored.detail == Detail::names ? in_tensors(std::ssize(stored.list.tensors)) : "");
    return;
  }
  row("in the checkpoint", grouped(totals->parameters), totals->bytes,
      in_tensors(std::ssize(stored.list.tensors)));
  for (const auto& [name, type] : totals->by_type)
    row("  " + name, grouped(type.parameters), type.bytes, in_tensors(type.tensors));
}

std::string difference_lines(const Model& model) {
  std::string text;
  if (!model.stored) return text;
  const Comparison& comparison = model.stored->comparison;
  const auto& all = comparison.differences;
  if (is_described(model) && model.stored->detail != Detail::size)
    text += fmt::format("  config and tensors: {} of {} agree{}{}\n", comparison.matched,
                        comparison.described, all.empty() ? "" : "; ", kinds_of(comparison));
  for (std::size_t i = 0; i < std::min(all.size(), most_shown); ++i)
    text +=
        fmt::format("    {:<10} {}: {}\n", model::name_of(all[i].kind), all[i].name, all[i].text);
  if (all.size() > most_shown)
    text += fmt::format("    and {} more: --tensors and --format json have all\n",
                        all.size() - most_shown);
  for (const auto& note : model.stored->notes) text += wrapped("note: " + note, 2, 4);
  return text;
}

/// Why no command but this one takes the model; empty for nearly all.
std::string how_it_runs(const Model& model) {
  const std::string_view why = model::counted_only(model.architecture, model.model_type);
  return why.empty() ? "" : wrapped(fmt::format("its execution is not described: {}", why), 2, 4);
}

/// PartCounts by module and by type, and why there is no more.
std::string undescribed_text(const Model& model, std::string text) {
  Rows rows;
  const auto parameters = parameters_of(model);
  rows.push_back({"  parameters", parameters ? grouped(*parameters) : "not known", ""});
  for (const auto& [name, count] : shown_parts(model))
    rows.push_back({"    " + name, grouped(count), ""});
  add_stored_rows(model, rows);
  const std::string lines = aligned({"", "", ""}, {false, true, false}, rows);
  text += lines.substr(lines.find('\n') + 1) + difference_lines(model);
  return text +
         wrapped("KV cache, activations and speed are not known: " + model.undescribed, 2, 4) +
         wrapped("source: " + model.source, 2, 4);
}

}  // namespace

std::string params_text(const Model& model, const Adapters& adapters) {
  std::string text = fmt::format("{} ({})\n", model.name, model.architecture);
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](std::string name, Size number, std::string note = {}) {
    rows.push_back({"  " + std::move(name), grouped(number), std::move(note)});
  };
  if (!is_described(model)) return undescribed_text(model, std::move(text));
  row("parameters", model.profile.parameters);
  row("active a token", model.profile.parameters_active,
      model::has_towers(model) ? "without towers, which no text uses" : "");
  row("without embeddings and head", model::non_embedding_parameters(model.part));
  const auto components = model::components_of(model.part, model.profile);
  for (std::size_t i = 0; i < components.size(); ++i)
    if (components[i] > 0 && components[i] < model.profile.parameters)
      row(std::string(model::component_names[i]), components[i]);
  const auto names = tied_tensors(model);
  if (!names.empty())
    row("with tied ones twice", model.profile.parameters_untied,
        fmt::format("tied: {}", fmt::join(names, ", ")));
  rows.push_back({"  by module:", "", ""});
  for (const auto& [name, parameters] : shown_parts(model)) row("  " + name, parameters);
  prediction_rows(model, row);
  const CacheElements kept = cache_fp16(model);
  row("KV bytes a token, 16 bit", kept.kv, std::string(kv_kind(model)));
  if (kept.indexer > 0)
    row("… and the indexer's", kept.indexer, "indexer keys of sparse attention");
  if (kept.source > 0) row("… and a source token", kept.source, "cross-attention");
  if (kept.state > 0) row("state bytes a sequence", kept.state, "16 bit, recurrent layers");
  if (adapters) {
    const model::Adapter adapter = adapt(model, *adapters);
    row("adapter parameters", adapter.parameters(),
        fmt::format("{:.3g} % of the model", 100.0 * static_cast<double>(adapter.parameters()) /
                                                 static_cast<double>(model.profile.parameters)));
    row("adapted modules", static_cast<Size>(adapter.modules.size()),
        fmt::format("{}", fmt::join(adapter.all_targets(), ", ")));
  }
  if (model.stored) add_stored_rows(model, rows);
  const std::string lines = aligned({"", "", ""}, {false, true, false}, rows);
  return text + lines.substr(lines.find('\n') + 1) + difference_lines(model) + assumptions(model) +
         how_it_runs(model) + wrapped("source: " + model.source, 2, 4);
}

}  // namespace headroom::sweep
