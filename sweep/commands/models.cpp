// headroom models: the catalogue that travels inside the program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"
#include "model/describe/layer_spec.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/model_list.hpp"
#include "sweep/screen/terminal.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using model::Model;

/// Widths of one head under latent attention, where those of queries and keys differ from those of
/// values. Nothing where attention is not latent.
struct LatentDims {
  Size keys, values;
};
std::optional<LatentDims> latent_dims(const Model& m) {
  const auto cache =
      std::ranges::find(m.part.caches, model::CacheKind::latent, &model::Cache::kind);
  if (cache == m.part.caches.end() || m.shape.query_heads == 0) return std::nullopt;
  for (std::size_t i = 0; i < m.part.blocks.size(); ++i) {
    const auto attention = model::layer_spec(m.part, static_cast<Size>(i)).attention;
    if (!attention || attention->output_width == 0) continue;
    const Size values = attention->output_width / m.shape.query_heads;
    return LatentDims{cache->score_dims / m.shape.query_heads - values, values};
  }
  return std::nullopt;
}

report::Table show(const std::vector<std::string>& names, const Hub& hub) {
  report::Table table{{"model", "property", "value"}, {}};
  for (const auto& name : names) {
    const Model m = resolve_model(name, hub);
    const auto row = [&](std::string property, report::Value value) {
      table.rows.push_back({m.name, std::move(property), std::move(value)});
    };
    row("architecture", m.architecture);
    row("model_type", m.model_type);
    row("parameters", m.profile.parameters);
    row("parameters_active", m.profile.parameters_active);
    row("hidden_size", m.shape.hidden_size);
    row("layers", m.shape.layers);
    row("query_heads", m.shape.query_heads);
    row("kv_heads", m.shape.kv_heads);
    if (const auto latent = latent_dims(m)) {
      row("qk_head_dim", latent->keys);
      row("v_head_dim", latent->values);
    } else {
      row("head_dim", m.shape.head_dim);
    }
    row("intermediate_size", m.shape.intermediate_size);
    row("vocabulary", m.shape.vocabulary);
    row("positions", m.shape.positions);
    row("checkpoint_precision", m.checkpoint_scheme);
    if (model::is_undescribed(m.checkpoint_scheme))
      row("checkpoint_bytes", "not known: " + model::why_undescribed(m.checkpoint_scheme));
    else
      row("checkpoint_bytes", model::checkpoint_bytes(m).count());
    if (m.multi_token_prediction.modules > 0)
      row("multi_token_prediction",
          fmt::format("{} of {} in checkpoint_bytes",
                      m.multi_token_prediction.part.tensors.empty()
                          ? Size{0}
                          : m.multi_token_prediction.modules,
                      counted(m.multi_token_prediction.modules, "module")));
    row("source", m.source);
  }
  return table;
}

/// Rules that the description of every model must satisfy.
std::string problem_of(const LookedUp& each) {
  if (!each.model) return each.problem;
  const Model& m = *each.model;
  if (m.profile.parameters <= 0) return "no parameters";
  if (m.profile.parameters_active > m.profile.parameters) return "more active than all parameters";
  if (m.profile.layers.empty()) return "no repeated blocks";
  if (m.shape.hidden_size <= 0) return "the config says no hidden size";
  try {
    model::quantise(m, model::scheme(m.checkpoint_scheme));
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

int lint(std::vector<std::string> names, const Options& options, const Hub& hub) {
  if (names.empty()) names = catalogue_models();
  report::Table table{{"model", "key", "problem"}, {}};
  for (const auto& each : look_up_all(names, hub)) {
    if (auto problem = problem_of(each); !problem.empty())
      table.rows.push_back({each.name, {}, std::move(problem)});
    if (!each.model) continue;
    for (const auto& unknown : each.model->unknown_keys)
      table.rows.push_back(
          {each.name, unknown.key,
           fmt::format("not read, and no key of {}; nearest: {}", each.model->architecture,
                       fmt::join(unknown.nearest, ", "))});
  }
  const bool clean = table.rows.empty();
  if (clean && format_of(options) == Format::text)
    emit(options, counted(static_cast<Size>(names.size()), "model") + ", no problem\n");
  else
    emit(options, formatted(table, format_of(options)));
  return clean ? done : failed;
}

/// `models`, `models list [WORD…]` and `models WORD…`: a word limits the list.
int list(const std::vector<std::string>& words, bool whole, const Options& options,
         const Hub& hub) {
  const Format format = format_of(options);
  refuse_details_outside_text(options, format);
  if (words.empty() && !whole && format == Format::text && !options.given("details") &&
      on_terminal(options)) {
    emit(options, model_overview());
    return done;
  }
  const ModelList found = listed_models(words, hub);
  if (format == Format::text && !options.given("details"))
    emit(options,
         model_lines(found, length_for(options, whole), fmt::format("{}", fmt::join(words, " "))));
  else
    emit(options, formatted(model_table(found), format));
  return done;
}

int run_models(const Options& options) {
  std::vector<std::string> names = options.operands();
  const std::string action = names.empty() ? "" : names.front();
  const Hub hub(hub_flags(options));
  if (action != "lint" && action != "show" && action != "list")
    return list(names, false, options, hub);
  names.erase(names.begin());
  if (action == "list") return list(names, true, options, hub);
  if (options.given("details"))
    throw UsageError(fmt::format("--details has no effect on models {}", action));
  if (action == "lint") return lint(std::move(names), options, hub);
  if (names.empty()) throw UsageError("models show: which MODEL?");
  show_properties(options, show(names, hub));
  return done;
}

}  // namespace

const Command models_command = {
    {.name = "models",
     .summary = "list, show or check the models that the program knows",
     .operands = "[WORD…] | list [WORD…] | show MODEL… | lint [MODEL…]",
     .flags = "hub-token offline details format out",
     .examples = "headroom models qwen3\nheadroom models list --format csv\n"
                 "headroom models show llama3-8b\n"
                 "headroom models lint ./config.json",
     .columns = "WORD: names or classes that have each word in them\n"
                "list: model, architecture, parameters, checkpoint_precision, source\n"
                "show: model, property, value; checkpoint_bytes: size of the files' tensors, "
                "with\n  multi-token prediction modules if their layout is described\n"
                "lint: model, key, problem: values that headroom cannot interpret, and config keys "
                "that it does\n  not read and the class does not know, with the nearest known keys",
     .exit_codes = "0 done; lint found no problem\n1 failed; lint found problems\n"
                   "2 usage: an option or a name that is not understood"},
    run_models};

}  // namespace headroom::sweep
