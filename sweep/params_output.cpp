#include "sweep/params_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>

#include "model/checkpoint/quantisation/stored.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/components.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/model_counts.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Comparison;
using model::Detail;
using model::Difference;
using model::Model;

/// Differences that a text shows; --tensors and json have all.
constexpr std::size_t most_shown = 10;

bool is_described(const Model& model) { return model.undescribed.empty(); }

/// Nothing where only the size of a file is known.
std::optional<Size> parameters_of(const Model& model) {
  const bool unknown = !is_described(model) && model.stored->detail != Detail::tensors;
  return unknown ? std::nullopt : std::optional(model.profile.parameters);
}

/// The tensors that the checkpoint holds, by type; null where no header was read.
const model::HeaderTotals* stored_totals(const Model& model) {
  const bool known = model.stored && model.stored->detail == Detail::tensors;
  return known ? &model.stored->totals : nullptr;
}

json::value number(std::optional<Size> value) {
  return value ? json::value(*value) : json::value(nullptr);
}
json::value if_described(const Model& model, json::value value) {
  return is_described(model) ? std::move(value) : json::value(nullptr);
}

json::value dtypes(const Model& model) {
  const auto* totals = stored_totals(model);
  if (totals == nullptr) return nullptr;
  json::object all;
  for (const auto& [name, type] : totals->by_type)
    all[name] = json::object{
        {"tensors", type.tensors}, {"parameters", type.parameters}, {"bytes", type.bytes.count()}};
  return all;
}

bool is_compared(const Model& model) {
  return is_described(model) && model.stored && model.stored->detail != Detail::size;
}

json::value differences(const Model& model) {
  if (!is_compared(model)) return nullptr;
  json::array all;
  for (const Difference& each : model.stored->comparison.differences)
    all.push_back(json::object{
        {"kind", model::name_of(each.kind)}, {"tensor", each.name}, {"text", each.text}});
  return all;
}

/// What the headers say; null where none were read.
void add_stored(const Model& model, json::object& all) {
  all["bytes"] = model.stored ? json::value(model.stored->list.total.count()) : nullptr;
  const auto* totals = stored_totals(model);
  all["parameters_stored"] = totals != nullptr ? json::value(totals->parameters) : nullptr;
  all["dtypes"] = dtypes(model);
  all["differences"] = differences(model);
  json::array notes;
  if (model.stored)
    for (const auto& note : model.stored->notes) notes.emplace_back(note);
  all["notes"] = std::move(notes);
  const std::string_view why = model::counted_only(model.architecture, model.model_type);
  all["counted_only"] = why.empty() ? json::value(nullptr) : json::value(why);
  all["undescribed"] = is_described(model) ? json::value(nullptr) : json::value(model.undescribed);
}

json::value prediction_value(const Model& model) {
  const auto& prediction = model.multi_token_prediction;
  if (prediction.modules == 0) return nullptr;
  json::object all{{"modules", prediction.modules}};
  const bool described = !prediction.source.empty();
  const Further further = further_of(prediction);
  all["parameters"] = described ? json::value(further.parameters) : json::value(nullptr);
  all["copies"] = described ? json::value(further.copies) : json::value(nullptr);
  all["source"] = described ? json::value(prediction.source) : json::value(nullptr);
  return all;
}

/// What the checkpoint holds beside the counts above.
template <class F>
void prediction_rows(const Model& model, F&& row) {
  const auto& prediction = model.multi_token_prediction;
  if (prediction.modules == 0) return;
  const std::string modules = fmt::format("{} multi-token-prediction module{}", prediction.modules,
                                          prediction.modules > 1 ? "s" : "");
  if (prediction.source.empty())
    return row("beside them, not counted", 0,
               modules + ", not described for " + model.architecture);
  const Further further = further_of(prediction);
  row("beside them, in checkpoints", further.parameters, modules);
  if (further.copies > 0)
    row("… and copies", further.copies, "of embedding and head, stored again");
}

std::string assumptions(const Model& model) {
  if (model.assumed.empty()) return {};
  return fmt::format("  assumed: {}\n", fmt::join(model.assumed, ", "));
}

/// "3 missing, 1 unexpected".
std::string kinds_of(const Comparison& comparison) {
  std::map<std::string_view, Size> counts;
  for (const Difference& each : comparison.differences) ++counts[model::name_of(each.kind)];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

using Rows = std::vector<std::vector<std::string>>;

void add_stored_rows(const Model& model, Rows& rows) {
  const model::Stored& stored = *model.stored;
  const auto row = [&](std::string name, std::string count, Bytes bytes, std::string note) {
    rows.push_back({"  " + std::move(name), std::move(count),
                    fmt::format("{} bytes{}", grouped(bytes.count()), note)});
  };
  const auto* totals = stored_totals(model);
  if (totals == nullptr) {
    row("in the checkpoint", "", stored.list.total,
        stored.detail == Detail::names ? fmt::format(" in {} tensors", stored.list.tensors.size())
                                       : "");
    return;
  }
  row("in the checkpoint", grouped(totals->parameters), totals->bytes,
      fmt::format(" in {} tensors", stored.list.tensors.size()));
  for (const auto& [name, type] : totals->by_type)
    row("  " + name, grouped(type.parameters), type.bytes,
        fmt::format(" in {} tensors", type.tensors));
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
  for (const auto& note : model.stored->notes) text += "  note: " + note + '\n';
  return text;
}

/// Why no command but this one takes the model; empty for nearly all.
std::string how_it_runs(const Model& model) {
  const std::string_view why = model::counted_only(model.architecture, model.model_type);
  return why.empty() ? "" : fmt::format("  how it runs is not described: {}\n", why);
}

/// Counts by module and by type, and why there is no more.
std::string undescribed_text(const Model& model, std::string text) {
  Rows rows;
  const auto parameters = parameters_of(model);
  rows.push_back({"  parameters", parameters ? grouped(*parameters) : "not known", ""});
  for (const auto& [name, count] : parameter_groups(model))
    rows.push_back({"    " + name, grouped(count), ""});
  add_stored_rows(model, rows);
  const std::string lines = aligned({"", "", ""}, {false, true, false}, rows);
  text += lines.substr(lines.find('\n') + 1) + difference_lines(model);
  return text + fmt::format("  KV cache, activations and speed are not known: {}\n  source: {}\n",
                            model.undescribed, model.source);
}

}  // namespace

json::object params_object(const Model& model, const Adapters& adapters) {
  json::object all;
  all["model"] = model.name;
  all["architecture"] = model.architecture;
  all["parameters"] = number(parameters_of(model));
  all["parameters_untied"] = if_described(model, model.profile.parameters_untied);
  all["parameters_active"] = if_described(model, model.profile.parameters_active);
  all["embedding_parameters"] = if_described(model, model.profile.embedding_parameters);
  all["non_embedding_parameters"] =
      if_described(model, model::non_embedding_parameters(model.part));
  const auto components = model::components_of(model.part, model.profile);
  json::object by_component;
  for (std::size_t i = 0; i < components.size(); ++i)
    if (i == 0 || components[i] > 0) by_component[model::component_names[i]] = components[i];
  all["components"] = if_described(model, std::move(by_component));
  all["multi_token_prediction"] = prediction_value(model);
  json::array shared;
  for (const auto& name : tied_tensors(model)) shared.emplace_back(name);
  all["tied"] = if_described(model, std::move(shared));
  json::object parts;
  for (const auto& [name, parameters] : parameter_groups(model)) parts[name] = parameters;
  all["groups"] = std::move(parts);
  const Kept kept = kept_fp16(model);
  all["kv_kind"] = if_described(model, json::value(kv_kind(model)));
  all["kv_bytes_per_token_fp16"] = if_described(model, kept.kv);
  all["indexer_bytes_per_token_fp16"] = if_described(model, kept.indexer);
  all["cross_attention_bytes_per_source_token_fp16"] = if_described(model, kept.source);
  all["state_bytes_per_sequence_fp16"] = if_described(model, kept.state);
  add_stored(model, all);
  if (adapters) {
    const model::Adapter adapter = adapt(model, *adapters);
    all["adapter_parameters"] = adapter.parameters();
    all["adapted_modules"] = adapter.modules.size();
    all["adapter_targets"] = json::value_from(adapter.all_targets());
  }
  if (!model.assumed.empty()) {
    all["assumed"] = json::array();
    for (const auto& line : model.assumed) all["assumed"].as_array().emplace_back(line);
  }
  all["source"] = model.source;
  return all;
}

report::Table params_table(const std::vector<Model>& models, const Adapters& adapters) {
  report::Table table{{"model",
                       "architecture",
                       "parameters",
                       "parameters_untied",
                       "parameters_active",
                       "embedding_parameters",
                       "non_embedding_parameters",
                       "vision_parameters",
                       "audio_parameters",
                       "projector_parameters",
                       "mtp_modules",
                       "mtp_parameters",
                       "mtp_copies",
                       "tied",
                       "kv_bytes_per_token_fp16",
                       "indexer_bytes_per_token_fp16",
                       "state_bytes_per_sequence_fp16",
                       "kv_kind",
                       "bytes",
                       "differences",
                       "source"},
                      {}};
  for (const Model& model : models) {
    using enum model::Component;
    const auto components = model::components_of(model.part, model.profile);
    const auto of = [&](model::Component c) { return components[static_cast<std::size_t>(c)]; };
    const auto& prediction = model.multi_token_prediction;
    const bool known = prediction.modules == 0 || !prediction.source.empty();
    const Further further = further_of(prediction);
    const Kept kept = kept_fp16(model);
    const auto value = [](std::optional<Size> count) {
      return count ? report::Value(*count) : report::Value();
    };
    const auto described = [&](Size count) {
      return is_described(model) ? report::Value(count) : report::Value();
    };
    table.rows.push_back(
        {model.name,
         model.architecture,
         value(parameters_of(model)),
         described(model.profile.parameters_untied),
         described(model.profile.parameters_active),
         described(model.profile.embedding_parameters),
         described(model::non_embedding_parameters(model.part)),
         described(of(vision)),
         described(of(audio)),
         described(of(projector)),
         described(prediction.modules),
         known ? report::Value(further.parameters) : report::Value(),
         known ? report::Value(further.copies) : report::Value(),
         fmt::format("{}", fmt::join(tied_tensors(model), " ")),
         described(kept.kv),
         described(kept.indexer),
         described(kept.state),
         is_described(model) ? report::Value(std::string(kv_kind(model))) : report::Value(),
         model.stored ? report::Value(model.stored->list.total.count()) : report::Value(),
         is_compared(model)
             ? report::Value(static_cast<Size>(model.stored->comparison.differences.size()))
             : report::Value(),
         model.source});
  }
  if (!adapters) return table;
  table.names.insert(table.names.end() - 1, {"adapter_parameters", "adapted_modules"});
  for (std::size_t i = 0; i < models.size(); ++i) {
    const model::Adapter adapter = adapt(models[i], *adapters);
    table.rows[i].insert(table.rows[i].end() - 1,
                         {adapter.parameters(), static_cast<Size>(adapter.modules.size())});
  }
  return table;
}

std::string params_text(const Model& model, const Adapters& adapters) {
  std::string text = fmt::format("{} ({})\n", model.name, model.architecture);
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](std::string name, Size number, std::string note = {}) {
    rows.push_back({"  " + std::move(name), grouped(number), std::move(note)});
  };
  if (!is_described(model)) return undescribed_text(model, std::move(text));
  row("parameters", model.profile.parameters);
  row("active a token", model.profile.parameters_active);
  row("without embeddings and head", model::non_embedding_parameters(model.part));
  const auto components = model::components_of(model.part, model.profile);
  for (std::size_t i = 0; i < components.size(); ++i)
    if (components[i] > 0 && components[i] < model.profile.parameters)
      row(std::string(model::component_names[i]), components[i]);
  const auto names = tied_tensors(model);
  if (!names.empty())
    row("with tied ones twice", model.profile.parameters_untied,
        fmt::format("tied: {}", fmt::join(names, ", ")));
  for (const auto& [name, parameters] : parameter_groups(model)) row("  " + name, parameters);
  prediction_rows(model, row);
  const Kept kept = kept_fp16(model);
  row("KV bytes a token, 16 bit", kept.kv, std::string(kv_kind(model)));
  if (kept.indexer > 0)
    row("… and the indexer's", kept.indexer, "keys by which sparse attention picks its tokens");
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
         how_it_runs(model) + "  source: " + model.source + '\n';
}

std::string disagreement(const Model& model) {
  if (!is_compared(model) || model.stored->comparison.differences.empty()) return "";
  return fmt::format("{}: config and tensors disagree: {}", model.name,
                     kinds_of(model.stored->comparison));
}

}  // namespace headroom::sweep
