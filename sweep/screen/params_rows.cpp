// Output of params as JSON and as a row of a table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "model/describe/architecture.hpp"
#include "model/describe/components.hpp"
#include "sweep/screen/params_facts.hpp"
#include "sweep/sources/model_counts.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Difference;
using model::Model;

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

json::value differences(const Model& model) {
  if (!model::is_compared(model)) return nullptr;
  json::array all;
  for (const Difference& each : model.stored->comparison.differences)
    all.push_back(json::object{
        {"kind", model::name_of(each.kind)}, {"tensor", each.name}, {"text", each.text}});
  return all;
}

/// Content of the headers; null if none were read.
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
  const CacheElements kept = cache_fp16(model);
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
  if (const auto lines = doubts(model); !lines.empty()) {
    all["warnings"] = json::array();
    for (const auto& line : lines) all["warnings"].as_array().emplace_back(line);
  }
  all["source"] = model.source;
  return all;
}

namespace {

std::vector<report::Value> params_row(const Model& model) {
  using enum model::Component;
  const auto components = model::components_of(model.part, model.profile);
  const auto of = [&](model::Component c) { return components[static_cast<std::size_t>(c)]; };
  const auto& prediction = model.multi_token_prediction;
  const bool known = prediction.modules == 0 || !prediction.source.empty();
  const Further further = further_of(prediction);
  const CacheElements kept = cache_fp16(model);
  const auto value = [](std::optional<Size> count) {
    return count ? report::Value(*count) : report::Value();
  };
  const auto described = [&](Size count) {
    return is_described(model) ? report::Value(count) : report::Value();
  };
  return {model.name,
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
          model::is_compared(model)
              ? report::Value(static_cast<Size>(model.stored->comparison.differences.size()))
              : report::Value(),
          model.source};
}

}  // namespace

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
  for (const Model& model : models) table.rows.push_back(params_row(model));
  if (!adapters) return table;
  table.names.insert(table.names.end() - 1, {"adapter_parameters", "adapted_modules"});
  for (std::size_t i = 0; i < models.size(); ++i) {
    const model::Adapter adapter = adapt(models[i], *adapters);
    table.rows[i].insert(table.rows[i].end() - 1,
                         {adapter.parameters(), static_cast<Size>(adapter.modules.size())});
  }
  return table;
}

}  // namespace headroom::sweep
