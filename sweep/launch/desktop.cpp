// Commands of ollama, LM Studio and mlx-lm.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Throws std::invalid_argument for what the program's own options cannot ask for.
void refuse_other_parts(const LaunchPoint& point, std::string_view program) {
  for (const auto& [name, value] : point.split)
    if (name != "gpu-layers" && name != "n-cpu-moe" &&
        (name != "override-tensor" || point.scenario.layer_split != nullptr))
      throw std::invalid_argument(fmt::format("{} has no option for --{}", program, name));
  if (!point.scenario.maps_files)
    throw std::invalid_argument(fmt::format("{} has no option for --no-mmap", program));
}

/// The automatic fit of llama.cpp places experts in host memory; a number of layers cannot.
bool places_by_itself(const LaunchPoint& point) {
  return std::ranges::any_of(point.split,
                             [](const auto& each) { return each.first != "gpu-layers"; });
}

/// Variables of the server's environment that differ from its defaults.
std::string ollama_environment(const model::Scenario& s) {
  std::string text;
  if (s.batch > 1) text += fmt::format(" OLLAMA_NUM_PARALLEL={}", s.batch);
  const Precision& kv = *model::cache_precision(s).keys;
  if (kv.name != "fp16")
    text += fmt::format(" OLLAMA_KV_CACHE_TYPE={}", s.runtime->cache.format(kv)->word);
  if (s.flash_attention != model::Override::engine_default || kv.block_elements > 1)
    text += fmt::format(" OLLAMA_FLASH_ATTENTION={}",
                        s.flash_attention == model::Override::off ? 0 : 1);
  return text;
}

/// The file or repository that a Modelfile starts from. Throws std::invalid_argument for a name of
/// several lines, which would be lines of the Modelfile. Source: ollama fb307609 docs/import.mdx,
/// "hf.co/".
std::string ollama_source(const model::QuantisedModel& weights) {
  const std::string& given = weights.model->repository;
  std::string name = gguf_repository(weights);
  if (!name.empty())
    name = "hf.co/" + name;
  else
    name = given.ends_with(".gguf") ? given : "./" + gguf_name(weights);
  if (one_line(name) != name)
    throw std::invalid_argument(
        fmt::format("a Modelfile cannot name '{}': rename the file", one_line(name)));
  return name;
}

/// Throws std::invalid_argument for a context beyond the model's positions.
/// Source: ollama fb307609 llm/server.go lowers num_ctx to the file's context_length.
void refuse_scaled_positions(const model::Scenario& s) {
  if (s.within_positions()) return;
  const Size positions = s.weights->model->shape.positions;
  throw std::invalid_argument(
      fmt::format("ollama gives a sequence at most the model's {0} positions, and {1} are asked "
                  "for: --context {0}, or --kind llama.cpp",
                  positions, s.cached_tokens()));
}

}  // namespace

/// Source: ollama fb307609 docs/modelfile.mdx, docs/faq.mdx, envconfig/config.go.
std::string ollama_script(const LaunchPoint& point) {
  refuse_other_parts(point, "ollama");
  refuse_scaled_positions(point.scenario);
  const model::Scenario& s = point.scenario;
  std::string text = heading(point);
  if (const std::string environment = ollama_environment(s); !environment.empty())
    text += fmt::format("# The server must have these settings:{} ollama serve\n", environment);
  text += fmt::format("cat >Modelfile <<'END'\nFROM {}\nPARAMETER num_ctx {}\n",
                      ollama_source(*s.weights), s.cached_tokens());
  if (places_by_itself(point))
    text += "# no num_gpu: llama.cpp's automatic fit keeps experts in host memory\n";
  else
    text += fmt::format("PARAMETER num_gpu {}\n", offloaded_layers(s, model::place(s, 1.0)));
  if (s.threads > 0) text += fmt::format("PARAMETER num_thread {}\n", s.threads);
  const std::string name = shell_quoted(
      lower(fmt::format("{}:{}", short_model_name(s.weights->model->name), point.scheme().name)));
  return text +
         fmt::format("END\nollama create {0} -f Modelfile &&\n  exec ollama run {0}\n", name);
}

/// Source: lms 07b7252d src/subcommands/load.ts and importCmd.ts.
std::string lm_studio_script(const LaunchPoint& point) {
  refuse_other_parts(point, "lms load");
  const model::Scenario& s = point.scenario;
  const model::CachePrecision kv = model::cache_precision(s);
  if (kv.name() != "fp16")
    throw std::invalid_argument(fmt::format(
        "lms load has no option for a KV cache in {}: the application's settings have", kv.name()));
  if (s.threads > 0)
    throw std::invalid_argument(
        "lms load has no option for --threads: the application's settings have");
  EngineCommand command(
      *s.runtime, heading(point) + fmt::format("lms import --yes --symbolic-link {}\nexec lms load",
                                               gguf_file(*s.weights)));
  const model::Plan plan = model::place(s, 1.0);
  const Size offloaded = offloaded_layers(s, plan);
  const Size all = model::counted_layers(*s.weights->model).size() + 1;
  if (!places_by_itself(point))
    command.flag("--gpu", offloaded >= all ? "max"
                          : offloaded == 0 ? "off"
                                           : fmt::format("{:.4f}", static_cast<double>(offloaded) /
                                                                       static_cast<double>(all)));
  // Sequences share one cache (schema.ts: useUnifiedKvCache).
  command.flag("--context-length", std::to_string(s.cached_tokens() * s.batch));
  command.flag("--parallel", std::to_string(s.batch));
  command.flag("--yes");
  return command.text();
}

/// Source: mlx-lm 0.32.2 convert.py, server.py.
std::string mlx_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Scheme& scheme = point.scheme();
  std::string start = heading(point), model = point.model().name;
  const bool converts =
      scheme.family == model::SchemeFamily::mlx && scheme.name != point.model().checkpoint_scheme;
  if (converts) {
    EngineCommand convert(*s.runtime, "mlx_lm.convert");
    convert.flag("--hf-path", shell_quoted(model));
    model = fmt::format("{}-{}", short_model_name(model), scheme.name);
    convert.flag("--mlx-path", shell_quoted(model));
    convert.flag("--quantize");
    const bool affine = scheme.packed != nullptr;
    convert.flag("--q-mode", affine ? "affine" : scheme.format);
    convert.flag("--q-bits", std::to_string(scheme.bits));
    convert.flag("--q-group-size", std::to_string(scheme.group));
    if (model::is_quantised(point.model()))
      start += fmt::format(
          "# If mlx_lm.convert does not read the checkpoint's {}, give --hf-path the model in 16 "
          "bit.\n",
          point.model().checkpoint_scheme);
    start += convert.text();
  }
  EngineCommand command(*s.runtime, start + "exec mlx_lm.server");
  command.flag("--model", shell_quoted(model));
  command.flag("--decode-concurrency", std::to_string(s.batch));
  command.chunk(s);
  if (const auto word = s.runtime->cache.format(*model::cache_precision(s).keys)->word;
      !word.empty())
    command.flag("--kv-bits", word);
  return command.text();
}

}  // namespace headroom::sweep
