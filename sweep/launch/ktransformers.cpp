// Command lines of KTransformers: its own server, and SGLang with kt-kernel.
#include <fmt/format.h>

#include "model/infer/estimate.hpp"
#include "sweep/launch/checkpoint.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// The rules of both put experts on the CPU, and nothing else.
void refuse_other_splits(const LaunchPoint& point) {
  const std::string_view name = point.scenario.runtime->name;
  if (point.scenario.layer_split != nullptr)
    throw std::invalid_argument(
        fmt::format("{} places the experts on the CPU by its own rules: leave the options of "
                    "llama.cpp's split out",
                    name));
  if (point.estimate().layers_cpu > 0)
    throw std::invalid_argument(
        fmt::format("{} places experts alone on the CPU, and {} layers are there: --runtime "
                    "llama.cpp",
                    name, point.estimate().layers_cpu));
}

/// The CPU's way to multiply experts, by the format that they have in the checkpoint.
/// Source: ktransformers kt-kernel/README.md, doc/en/kt-kernel/Native-Precision-Tutorial.md.
std::string_view kt_method(const model::Scheme& scheme) {
  if (scheme.name == "bf16") return "BF16";
  if (scheme.name == "fp8-block") return "FP8";
  if (scheme.name == "fp8-channel") return "FP8_PERCHANNEL";
  if (scheme.name.starts_with("int4")) return "RAWINT4";
  throw std::invalid_argument(
      fmt::format("kt-kernel's experts are in bf16, fp8-block, fp8-channel or int4 where one "
                  "checkpoint serves cards and CPU, not in {}: --precision bf16, or --runtime "
                  "ktransformers for GGUF files",
                  scheme.name));
}

}  // namespace

/// Options: ktransformers 0.2 server/args.py (now archive/ktransformers).
std::string ktransformers_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  refuse_other_splits(point);
  if (!is_gguf(point.scheme().family))
    throw std::invalid_argument(
        "ktransformers 0.2 reads the weights from GGUF files: --precision "
        "q4_K_M, or --runtime kt-kernel");
  EngineCommand command(
      *s.runtime, heading(point) +
                      "# The folder of --gguf_path holds the .gguf files, and none of another "
                      "model.\nexec ktransformers");
  command.flag("--model_path", shell_quoted(point.model().name));
  command.flag("--gguf_path",
               shell_quoted(fmt::format("./{}-{}", short_model_name(point.model().name),
                                        gguf_type(point.scheme()))));
  command.flag("--cpu_infer", std::to_string(s.threads > 0 ? s.threads : s.machine->host.cores));
  command.flag("--cache_lens", std::to_string(s.cached_tokens() * s.batch));
  command.flag("--max_batch_size", std::to_string(s.batch));
  command.flag("--max_new_tokens", std::to_string(s.output_tokens));
  return command.text();
}

/// Options: ktransformers kt-kernel/README.md, "KT-Kernel Parameters". A socket counts as one node
/// of NUMA.
std::string kt_kernel_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  refuse_other_splits(point);
  const std::string_view method = kt_method(point.scheme());
  const Checkpoint checkpoint(point, false);
  EngineCommand command(*s.runtime, heading(point) + checkpoint.note() +
                                        "# SGLang is the build sglang-kt; its --kt-weight-path is "
                                        "the checkpoint's folder.\nexec python3 -m "
                                        "sglang.launch_server");
  command.flag("--model-path", checkpoint.word());
  command.flag("--kt-weight-path", "\"${WEIGHTS:?the folder of the checkpoint}\"");
  command.flag("--kt-method", method);
  command.flag("--kt-cpuinfer", std::to_string(s.threads > 0 ? s.threads : s.machine->host.cores));
  command.flag("--kt-threadpool-count", std::to_string(s.machine->host.sockets));
  command.flag("--kt-num-gpu-experts", "0");
  command.flag("--tensor-parallel-size", std::to_string(point.estimate().gpus_used));
  command.flag("--context-length", std::to_string(s.cached_tokens()));
  command.flag("--max-running-requests", std::to_string(s.batch));
  return command.text();
}

}  // namespace headroom::sweep
