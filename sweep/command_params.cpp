// headroom params: exact parameter counts, from metadata alone.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>

#include "model/model.hpp"
#include "sweep/command.hpp"
#include "sweep/hub.hpp"
#include "sweep/output.hpp"
#include "sweep/source.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Model;
using model::Tensor;

/// Parameters by part of the model, in registration order, tied ones with their owner: repeated
/// blocks together, everything else by module at the depth of the blocks' list.
std::vector<std::pair<std::string, Size>> groups(const Model& model) {
  std::vector<std::string> lists;  // "model.layers"
  std::size_t depth = 1;
  for (const auto& block : model.part.blocks) {
    const auto dot = block.rfind('.');
    const std::string list = dot == std::string::npos ? block : block.substr(0, dot);
    if (!lists.empty() && lists.back() == list) continue;
    lists.push_back(list);
    const auto here = static_cast<std::size_t>(std::ranges::count(list, '.')) + 1;
    depth = lists.size() == 1 ? here : std::min(depth, here);
  }
  const auto group_of = [&](const Tensor& tensor) {
    for (const auto& list : lists)
      if (tensor.name.starts_with(list + '.')) return list;
    const std::string_view path = tensor.module().empty() ? tensor.name : tensor.module();
    std::size_t end = 0;
    for (std::size_t i = 0; i < depth && end != std::string_view::npos; ++i)
      end = path.find('.', end + (i > 0 ? 1 : 0));
    return std::string(path.substr(0, end));
  };
  std::vector<std::pair<std::string, Size>> all;
  std::map<std::string, std::size_t> at;
  for (const Tensor& tensor : model.part.tensors) {
    if (!tensor.is_parameter()) continue;
    const std::string group = group_of(tensor);
    if (const auto [place, fresh] = at.emplace(group, all.size()); fresh)
      all.emplace_back(group, 0);
    if (tensor.tied_to.empty()) all[at.at(group)].second += tensor.elements();
  }
  return all;
}

std::vector<std::string> tied(const Model& model) {
  std::vector<std::string> names;
  for (const Tensor& tensor : model.part.tensors)
    if (tensor.is_parameter() && !tensor.tied_to.empty()) names.push_back(tensor.name);
  return names;
}

/// What one more token adds to the cache of one sequence at 2 bytes an element, before any window
/// is full: K and V of self-attention, or the latent.
Size kv_bytes_per_token_fp16(const Model& model) {
  Size elements = 0;
  for (const auto& cache : model.part.caches)
    if (cache.kind == model::CacheKind::self_attention || cache.kind == model::CacheKind::latent)
      elements += cache.per_token;
  return 2 * elements;
}

json::object object_of(const Model& model) {
  json::object all;
  all["model"] = model.name;
  all["architecture"] = model.architecture;
  all["parameters"] = model.profile.parameters;
  all["parameters_untied"] = model.profile.parameters_untied;
  all["parameters_active"] = model.profile.parameters_active;
  all["embedding_parameters"] = model.profile.embedding_parameters;
  all["tied"] = json::array();
  for (const auto& name : tied(model)) all["tied"].as_array().emplace_back(name);
  json::object parts;
  for (const auto& [name, parameters] : groups(model)) parts[name] = parameters;
  all["groups"] = std::move(parts);
  all["kv_bytes_per_token_fp16"] = kv_bytes_per_token_fp16(model);
  all["source"] = model.source;
  return all;
}

report::Table table_of(const std::vector<Model>& models) {
  report::Table table{
      {"model", "architecture", "parameters", "parameters_untied", "parameters_active",
       "embedding_parameters", "tied", "kv_bytes_per_token_fp16", "source"},
      {}};
  for (const Model& model : models)
    table.rows.push_back({model.name, model.architecture, model.profile.parameters,
                          model.profile.parameters_untied, model.profile.parameters_active,
                          model.profile.embedding_parameters,
                          fmt::format("{}", fmt::join(tied(model), " ")),
                          kv_bytes_per_token_fp16(model), model.source});
  return table;
}

std::string text_of(const Model& model) {
  std::string text = fmt::format("{} ({})\n", model.name, model.architecture);
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](std::string name, Size number, std::string note = {}) {
    rows.push_back({"  " + std::move(name), grouped(number), std::move(note)});
  };
  row("parameters", model.profile.parameters);
  row("active a token", model.profile.parameters_active);
  const auto names = tied(model);
  if (!names.empty())
    row("with tied ones twice", model.profile.parameters_untied,
        fmt::format("tied: {}", fmt::join(names, ", ")));
  for (const auto& [name, parameters] : groups(model)) row("  " + name, parameters);
  row("KV bytes a token, 16 bit", kv_bytes_per_token_fp16(model));
  const std::string lines = aligned({"", "", ""}, {false, true, false}, rows);
  return text + lines.substr(lines.find('\n') + 1) + "  source: " + model.source + '\n';
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
  auto names = options.operands();
  if (options.given("model")) names.insert(names.begin(), options.text("model"));
  if (names.empty()) throw UsageError("which MODEL? `headroom models list` shows the catalogue");
  say_if_full_model(options);
  const Format format = format_of(options);
  const auto models = look_up(names, Hub(hub_flags(options)));
  if (options.given("tensors")) {
    emit(options, formatted(tensor_table(models), format));
    return done;
  }
  std::string text;
  if (format == Format::text) {
    for (const Model& model : models) text += (text.empty() ? "" : "\n") + text_of(model);
  } else if (format == Format::json) {
    json::array all;
    for (const Model& model : models) all.push_back(object_of(model));
    text = pretty(all);
  } else if (format == Format::jsonl) {
    for (const Model& model : models) text += json::serialize(object_of(model)) + '\n';
  } else {
    text = formatted(table_of(models), format);
  }
  emit(options, text);
  return done;
}

}  // namespace

const Command params_command = {
    {.name = "params",
     .summary = "exact parameter counts of models, from their metadata",
     .operands = "MODEL…",
     .flags = "model tensors hub-token offline load-full-model format out",
     .examples = "headroom params microsoft/phi-2\n"
                 "headroom params llama3-8b Qwen3-0.6B --format json\n"
                 "headroom params ./config.json --tensors --format csv\n"
                 "headroom params 'gpt2?n_layer=6'\n"
                 "headroom params Qwen/Qwen3-8B@main   # from the hub: config.json, never weights",
     .columns = "model, architecture, source\n"
                "parameters: tied ones once; parameters_untied: each time\n"
                "parameters_active: touched by one token (experts); embeddings counted\n"
                "embedding_parameters: looked up, not multiplied\n"
                "tied: tensors that share another one's storage\n"
                "groups (json): parameters by part of the model; they sum to parameters\n"
                "kv_bytes_per_token_fp16: what a token adds to the cache, windows not yet full\n"
                "with --tensors: model, tensor, shape, role, elements, tied_to",
     .exit_codes = usual_exit_codes},
    run};

}  // namespace headroom::sweep
