// headroom params: exact parameter counts, from metadata alone.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "model/components.hpp"
#include "model/model.hpp"
#include "sweep/adapter_options.hpp"
#include "sweep/command.hpp"
#include "sweep/hub.hpp"
#include "sweep/model_counts.hpp"
#include "sweep/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/source.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Model;
using model::Tensor;

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

json::object object_of(const Model& model, const Adapters& adapters) {
  json::object all;
  all["model"] = model.name;
  all["architecture"] = model.architecture;
  all["parameters"] = model.profile.parameters;
  all["parameters_untied"] = model.profile.parameters_untied;
  all["parameters_active"] = model.profile.parameters_active;
  all["embedding_parameters"] = model.profile.embedding_parameters;
  all["non_embedding_parameters"] = model::non_embedding_parameters(model.part);
  const auto components = model::components_of(model.part, model.profile);
  json::object by_component;
  for (std::size_t i = 0; i < components.size(); ++i)
    if (i == 0 || components[i] > 0) by_component[model::component_names[i]] = components[i];
  all["components"] = std::move(by_component);
  all["multi_token_prediction"] = prediction_value(model);
  all["tied"] = json::array();
  for (const auto& name : tied_tensors(model)) all["tied"].as_array().emplace_back(name);
  json::object parts;
  for (const auto& [name, parameters] : parameter_groups(model)) parts[name] = parameters;
  all["groups"] = std::move(parts);
  all["kv_bytes_per_token_fp16"] = kv_bytes_per_token_fp16(model);
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

report::Table table_of(const std::vector<Model>& models, const Adapters& adapters) {
  report::Table table{
      {"model", "architecture", "parameters", "parameters_untied", "parameters_active",
       "embedding_parameters", "non_embedding_parameters", "vision_parameters", "audio_parameters",
       "projector_parameters", "mtp_modules", "mtp_parameters", "mtp_copies", "tied",
       "kv_bytes_per_token_fp16", "source"},
      {}};
  for (const Model& model : models) {
    using enum model::Component;
    const auto components = model::components_of(model.part, model.profile);
    const auto of = [&](model::Component c) { return components[static_cast<std::size_t>(c)]; };
    const auto& prediction = model.multi_token_prediction;
    const bool known = prediction.modules == 0 || !prediction.source.empty();
    const Further further = further_of(prediction);
    table.rows.push_back(
        {model.name, model.architecture, model.profile.parameters, model.profile.parameters_untied,
         model.profile.parameters_active, model.profile.embedding_parameters,
         model::non_embedding_parameters(model.part), of(vision), of(audio), of(projector),
         prediction.modules, known ? report::Value(further.parameters) : report::Value(),
         known ? report::Value(further.copies) : report::Value(),
         fmt::format("{}", fmt::join(tied_tensors(model), " ")), kv_bytes_per_token_fp16(model),
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

std::string text_of(const Model& model, const Adapters& adapters) {
  std::string text = fmt::format("{} ({})\n", model.name, model.architecture);
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](std::string name, Size number, std::string note = {}) {
    rows.push_back({"  " + std::move(name), grouped(number), std::move(note)});
  };
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
  row("KV bytes a token, 16 bit", kv_bytes_per_token_fp16(model));
  if (adapters) {
    const model::Adapter adapter = adapt(model, *adapters);
    row("adapter parameters", adapter.parameters(),
        fmt::format("{:.3g} % of the model", 100.0 * static_cast<double>(adapter.parameters()) /
                                                 static_cast<double>(model.profile.parameters)));
    row("adapted modules", static_cast<Size>(adapter.modules.size()),
        fmt::format("{}", fmt::join(adapter.all_targets(), ", ")));
  }
  const std::string lines = aligned({"", "", ""}, {false, true, false}, rows);
  return text + lines.substr(lines.find('\n') + 1) + assumptions(model) +
         "  source: " + model.source + '\n';
}

constexpr std::string_view roles[] = {"matmul", "embedding", "head",  "norm",
                                      "bias",   "conv",      "other", "buffer"};

std::string shape_text(const Tensor& tensor) {
  return fmt::format("{}", fmt::join(tensor.shape, "x"));
}

report::Table tensor_table(const std::vector<Model>& models) {
  report::Table table{{"model", "tensor", "shape", "role", "elements", "tied_to"}, {}};
  for (const Model& model : models)
    for (const Tensor& tensor : model.part.tensors)
      table.rows.push_back({model.name, tensor.name, shape_text(tensor),
                            std::string(roles[static_cast<std::size_t>(tensor.role)]),
                            tensor.elements(), tensor.tied_to});
  return table;
}

std::vector<Model> look_up(const std::vector<std::string>& names, const Hub& hub) {
  std::vector<Model> models;
  for (Resolved& each : resolve_models(names, hub)) {
    if (each.failure) std::rethrow_exception(each.failure);
    models.push_back(std::move(*each.model));
  }
  return models;
}

int run(const Options& options) {
  say_if_full_model(options);
  const Format format = format_of(options);
  const auto adapters = adapters_of(options);
  const auto models = look_up(models_given(options), Hub(hub_flags(options)));
  if (options.given("tensors")) {
    if (adapters)
      throw UsageError("--tensors lists the model's own; adapters have no effect on it");
    emit(options, formatted(tensor_table(models), format));
    return done;
  }
  std::string text;
  if (format == Format::text) {
    for (const Model& model : models) text += (text.empty() ? "" : "\n") + text_of(model, adapters);
  } else if (format == Format::json) {
    json::array all;
    for (const Model& model : models) all.push_back(object_of(model, adapters));
    text = pretty(all);
  } else if (format == Format::jsonl) {
    for (const Model& model : models) text += json::serialize(object_of(model, adapters)) + '\n';
  } else {
    text = formatted(table_of(models, adapters), format);
  }
  emit(options, text);
  return done;
}

}  // namespace

const Command params_command = {
    {.name = "params",
     .summary = "exact parameter counts of models, from their metadata",
     .operands = "MODEL…",
     .flags = HEADROOM_MODEL_FLAGS " tensors " HEADROOM_ADAPTER_FLAGS
                                   " hub-token offline load-full-model format out",
     .examples =
         "headroom params microsoft/phi-2\n"
         "headroom params llama3-8b Qwen3-0.6B --format json\n"
         "headroom params ./config.json --tensors --format csv\n"
         "headroom params 'gpt2?n_layer=6'\n"
         "headroom params llama3-8b --lora-rank 16 --lora-targets all-linear --dora\n"
         "headroom params my-model.toml\n"
         "headroom params --hidden-size 4096 --layers 32 --heads 32 --kv-heads 8 "
         "--intermediate-size 14336 \\\n"
         "  --vocab-size 128256 --position-embedding rotary --norm rms --feed-forward gated "
         "--tied-head false",
     .columns =
         "model, architecture, source\n"
         "parameters: tied ones once; parameters_untied: each time\n"
         "parameters_active: touched by one token (experts); embeddings counted\n"
         "embedding_parameters: looked up, not multiplied; non_embedding_parameters: neither\n"
         "  these nor an output head of its own\n"
         "components (json): language, vision, audio, projector, other; they sum to\n"
         "  parameters; in csv vision_parameters, audio_parameters, projector_parameters\n"
         "multi_token_prediction (json): null, or what checkpoints hold beside parameters:\n"
         "  modules, parameters of their own, copies of embedding and head, source of the\n"
         "  layout; null where the layout is not described. In csv mtp_modules,\n"
         "  mtp_parameters, mtp_copies\n"
         "tied: tensors that share another one's storage\n"
         "groups (json): parameters by part of the model; they sum to parameters\n"
         "kv_bytes_per_token_fp16: what a token adds to the cache, windows not yet full\n"
         "assumed (text, json): what the description of a custom model leaves to defaults\n"
         "adapter_parameters, adapted_modules (with --lora-rank, --lora-targets, --dora):\n"
         "                 what PEFT would train, and beside how many modules\n"
         "with --tensors: model, tensor, shape, role, elements, tied_to",
     .exit_codes = usual_exit_codes},
    run};

}  // namespace headroom::sweep
