// headroom params: exact parameter counts, from metadata alone.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <exception>

#include "model/checkpoint/quantisation/stored.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/params_output.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::Model;

/// The models found. A single model that fails throws its error. With several models, failures are
/// reported and the others are counted.
std::vector<Model> look_up(const std::vector<std::string>& names, const Hub& hub, Need need) {
  std::vector<Model> models;
  std::vector<std::exception_ptr> failures;
  for (Resolved& each : resolve_models(names, hub, need))
    if (each.failure)
      failures.push_back(each.failure);
    else
      models.push_back(std::move(*each.model));
  for (const auto& failure : failures) try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      if (models.empty() && failure == failures.back()) throw;
      fmt::print(stderr, "headroom: {}\n", e.what());
    }
  return models;
}

int run_params(const Options& options) {
  say_if_full_model(options);
  const Format format = format_of(options);
  const auto adapters = adapters_of(options);
  const auto names = models_given(options);
  const Hub hub(hub_flags(options));
  const auto models = look_up(names, hub, adapters ? Need::description : Need::counts);
  if (options.given("hub-token") && !hub.was_asked())
    throw UsageError("--hub-token has no effect: no MODEL given is one of the hub");
  const int outcome = models.size() == names.size() ? done : failed;
  for (const Model& model : models)
    if (const auto line = model::disagreement(model); !line.empty())
      fmt::print(stderr, "headroom: {}: {}\n", model.name, line);
  if (options.given("tensors")) {
    if (adapters)
      throw UsageError("--tensors lists only the model's own tensors: adapters have no effect");
    emit(options, formatted(tensor_table(models), format));
    return outcome;
  }
  std::string text;
  if (format == Format::text) {
    for (const Model& model : models)
      text += (text.empty() ? "" : "\n") + params_text(model, adapters);
  } else if (format == Format::json) {
    json::array all;
    for (const Model& model : models) all.push_back(params_object(model, adapters));
    text = pretty(all);
  } else if (format == Format::jsonl) {
    for (const Model& model : models)
      text += json::serialize(params_object(model, adapters)) + '\n';
  } else {
    text = formatted(params_table(models, adapters), format);
  }
  emit(options, text);
  return outcome;
}

}  // namespace

const Command params_command = {
    {.name = "params",
     .summary = "count the parameters of models from their metadata",
     .operands = "MODEL…",
     .flags = HEADROOM_MODEL_FLAGS " tensors " HEADROOM_ADAPTER_FLAGS
                                   " hub-token offline load-full-model format out",
     .examples =
         "headroom params microsoft/phi-2\n"
         "headroom params llama3-8b Qwen3-0.6B --format json\n"
         "headroom params ./config.json --tensors --format csv\n"
         "headroom params 'gpt2?n_layer=6'\n"
         "headroom params model.safetensors.index.json model-Q4_K_M-00001-of-00002.gguf\n"
         "headroom params ./folder-of-config-and-shards --tensors\n"
         "headroom params llama3-8b --lora-rank 16 --lora-targets all-linear --dora\n"
         "headroom params my-model.toml\n"
         "headroom params --hidden-size 4096 --layers 32 --heads 32 --kv-heads 8 "
         "--intermediate-size 14336 \\\n"
         "  --vocab-size 128256 --position-embedding rotary --norm rms --feed-forward gated "
         "--tied-head false",
     .columns =
         "model, architecture, source\n"
         "parameters: tied ones once; parameters_untied: each time\n"
         "parameters_active: used by one token of text: of routed experts only the active ones,\n"
         "  of tables of n-grams or by layer only the rows read, no vision or audio towers;\n"
         "  the token embedding counts in full\n"
         "embedding_parameters: looked up, not multiplied; non_embedding_parameters: neither\n"
         "  these nor an output head of its own\n"
         "components (json): language, vision, audio, projector, other; they sum to\n"
         "  parameters; in csv vision_parameters, audio_parameters, projector_parameters\n"
         "multi_token_prediction (json): modules in checkpoints that are\n  not counted: number, "
         "own parameters, copies of embedding and head, source of the\n  layout. Null where the "
         "layout is not described. In csv mtp_modules,\n"
         "  mtp_parameters, mtp_copies\n"
         "tied: tensors that share another one's storage\n"
         "groups (json): parameters by part of the model; they sum to parameters\n"
         "kv_bytes_per_token_fp16: K and V, or the latent, of a token; windows not yet full\n"
         "indexer_bytes_per_token_fp16: keys of sparse attention's indexer, in addition\n"
         "cross_attention_bytes_per_source_token_fp16 (json), state_bytes_per_sequence_fp16:\n"
         "  cache of the source or image; state of recurrent layers. An estimate counts all four\n"
         "kv_kind: full, sliding, mixed, latent, hybrid, recurrent or none\n"
         "assumed (text, json): keys that a file omits and whose defaults are uncertain\n"
         "adapter_parameters, adapted_modules (with --lora-rank, --lora-targets, --dora):\n"
         "                 parameters that PEFT would train, and number of adapted modules\n"
         "bytes, differences: those of the checkpoint's tensors, if headroom read their headers\n"
         "parameters_stored, dtypes, notes, undescribed (json): content of the headers, and why\n  "
         "headroom knows no more\n"
         "counted_only (json): why its execution is unknown although all tensors are counted\n"
         "with --tensors: model, tensor, shape, role, elements, tied_to, dtype, bytes, difference",
     .exit_codes = usual_exit_codes},
    run_params};

}  // namespace headroom::sweep
