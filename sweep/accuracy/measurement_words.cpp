// The words for engines, precisions and reasons in tables of measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "hardware/names.hpp"
#include "sweep/accuracy/measurement_names.hpp"

namespace headroom::sweep {
namespace {

/// The longest `starts` that fits counts. PyTorch's scripts print GiB as "GB" unless noted.
constexpr auto engines = std::to_array<EngineName>(
    {{"transformer", "transformers", GiB, true, 0, 0},
     {"hugging face", "transformers", GiB, true, 0, 0},
     // big_model_inference's table, of 2022: a short prompt, generate()'s default of 20 tokens in
     // all; measures_util.py prints MiB, of which the table has thousands
     {"accelerate", "transformers-4.20", 1000 * MiB, true, 10, 10},
     // as a loader: from_pretrained with files in that form
     {"safetensors", "transformers", GiB, true, 0, 0},
     {"hf accelerate", "transformers", GiB, true, 0, 0},
     {"hugging face accelerate", "transformers", GiB, true, 0, 0},
     {"llama.cpp", "llama.cpp", GiB, false, 1, 127},
     {"ik_llama.cpp", "ik_llama.cpp", GiB, false, 1, 127},
     {"ollama", "llama.cpp", GiB, false, 1, 127},
     {"text-generation-webui", "llama.cpp", GiB, false, 0, 0},  // by the precision, see below
     {"vllm", "vllm", GiB, false, 0, 0},
     {"sglang", "sglang", GiB, false, 0, 0},
     {"trtllm", "tensorrt-llm", GiB, false, 0, 0},
     {"tensorrt-llm", "tensorrt-llm", GiB, false, 0, 0},
     // exllamav2's README: speed at short contexts
     {"exllama", "exllama", GiB, true, 8, 120},
     // examples/benchmark.py: max_new_tokens=n_generate
     {"autoawq", "autoawq", GiB, true, 0, 0, false, true},
     // litgpt generate/base.py: "What food do llamas eat?", 50 new tokens; prints bytes / 1e9
     {"litgpt", "litgpt", GB, true, 7, 50},
     {"gpt-fast", "gpt-fast", GB, true, 5, 200},
     {"calm", "calm", GiB, false, 0, 0},
     {"mlc", "mlc-llm", GiB, false, 0, 0},
     {"ds-inference", "deepspeed-inference", GiB, true, 0, 0},
     {"ds-zero", "zero-inference", GiB, true, 0, 0},
     {"zero-inference", "zero-inference", GiB, true, 0, 0},
     {"deepspeed zero-inference", "zero-inference", GiB, true, 0, 0},
     {"flexgen", "flexgen", GiB, true, 0, 0},
     {"flexllmgen", "flexgen", GiB, true, 0, 0},
     {"ktransformers", "ktransformers", GiB, false, 0, 0, true},
     {"dual socket ktransformers", "ktransformers", GiB, false, 0, 0, true},
     {"single socket ktransformers", "ktransformers", GiB, false, 0, 0, true},
     {"kt-kernel", "kt-kernel", GiB, false, 0, 0, true}});

/// What a precision in words means; `runtime` empty: for each.
struct Words {
  std::string_view written, runtime, scheme;
};
constexpr auto precisions_in_words = std::to_array<Words>({
    {"gptq 4bit", "", "gptq-int4"},
    {"gptq 4bit g128", "", "gptq-int4"},
    {"gptq 4bit g32", "", "gptq-int4-32g"},
    {"gptq 4bit no group", "", "gptq-int4-nogroup"},
    {"gptq int4", "", "gptq-int4"},
    {"int4 gptq", "", "gptq-int4"},
    {"int8 gptq", "", "gptq-int8"},
    {"awq 4bit g128", "", "awq-int4"},
    {"awq-int4", "", "awq-int4"},
    {"bnb.nf4", "", "nf4"},
    {"bnb.nf4-dq", "", "nf4-double"},
    {"q4km", "", "q4_K_M"},
    {"int8 weight-only", "", "w8a8-int8"},  // one scale a row, as packed there
    {"int4 g32", "", "int4-32g"},
    {"int4-group", "", "int4-64g"},  // FlexGen: groups of 64
    {"int4", "flexgen", "int4-64g"},
    {"int4", "zero-inference", "int4-64g"},
    {"fp4", "tensorrt-llm", "nvfp4"},      // its tables: checkpoints of ModelOpt, "NVFP4"
    {"fp8", "transformers", "fp8-block"},  // finegrained_fp8.py, as Qwen and DeepSeek publish it
    {"4bit", "mlc-llm", "int4-32g"},       // q4f16_1: groups of 32
    {"4bit", "llama.cpp", "q4_K_M"},
    {"4-bit", "llama.cpp", "q4_0"},
    {"4bit", "exllama", "gptq-int4"},
    {"bf16/fp16", "", "bf16"},
    {"f16", "", "fp16"},
});
/// Written behind a precision without changing what is stored.
constexpr auto without_effect = std::to_array<std::string_view>(
    {".gguf", " act-order", " act", " gemm", " gemv", " (default)"});

const model::Scheme* known(const std::string& name) {
  try {
    return &model::scheme(name);
  } catch (const UnknownName&) {
    return nullptr;
  }
}

/// vLLM's row for one of its versions.
std::string_view vllm_of(int minor) {
  if (minor > 15) return "vllm";
  if (minor > 10) return "vllm-0.15";
  if (minor > 9) return "vllm-0.10";
  if (minor > 7) return "vllm-0.9";
  if (minor > 5) return "vllm-0.7";
  return minor < 3 ? "vllm-0.2" : "vllm-0.5";
}

/// The version that was current when an issue or pull request of vLLM was opened, by its number:
/// those of the days of releases 0.2.6, 0.6.0, 0.8.0, 0.10.0, 0.11.0 and 0.16.0. Nothing: no such
/// source.
std::optional<std::string_view> vllm_of_tracker(const std::string& source) {
  constexpr std::pair<int, int> newer[] = {{34500, 16}, {26100, 11}, {21500, 10}, {14900, 8},
                                           {8100, 6},   {2157, 5},   {0, 2}};
  for (const std::string_view word : {"vllm-project/vllm/issues/", "vllm-project/vllm/pull/"})
    if (const auto at = source.find(word); at != source.npos) {
      const int number = std::atoi(source.c_str() + at + word.size());
      for (const auto& [from, minor] : newer)
        if (number > from) return vllm_of(minor);
    }
  return std::nullopt;
}

/// Whether layers on the CPU were left to BLAS: "BLAS build", "backend=CUDA+BLAS".
bool with_blas(const Measurement& row) {
  const std::string notes = lower(row["notes"]);
  return (notes.find("blas build") != notes.npos && notes.find("no blas") == notes.npos) ||
         lower(row.setting("backend").value_or("")).find("blas") != std::string::npos;
}

/// The number behind " b" or "build " in the settings of a row of llama.cpp; 0: none.
int build_of(const std::string& settings) {
  for (const std::string_view word : {" b", "build "})
    for (auto at = settings.find(word); at != settings.npos; at = settings.find(word, at + 1))
      if (const int number = std::atoi(settings.c_str() + at + word.size()); number > 0)
        return number;
  return 0;
}

/// Settings in lower case. Shaders with matrix units are of December 2024.
std::string_view llama_cpp_of(const Measurement& row, const std::string& settings) {
  const auto says = [&](std::string_view word) { return settings.find(word) != settings.npos; };
  const int build = build_of(settings);
  if (says("vulkan")) {
    const bool of_2024 = (says(" 2023") || says(" 2024")) && !says("dec 2024") &&
                         lower(row["notes"]).find("dec 2024") == std::string::npos;
    return of_2024 || (build > 0 && build < 4283) ? "llama.cpp-vulkan-b4282" : "llama.cpp-vulkan";
  }
  if (with_blas(row)) return "llama.cpp-blas";
  for (const auto word : {" 2023", "jan 2024", "feb 2024", "mar 2024", "apr 2024", "may 2024"})
    if (says(word)) return "llama.cpp-b3120";
  if (build > 0 && build < 3121) return "llama.cpp-b3120";
  return says(" 2024") || (build > 0 && build < 6325) ? "llama.cpp-b6324" : "llama.cpp";
}

/// A table of transformers that names the flash-attn package does not say which of its rows ran
/// with it. Of Qwen3's, a token of AWQ's rows takes longer with each cached one by what keeping and
/// reading it costs, that of others by its copies for every query head too.
bool with_flash_attention(const Measurement& row) {
  return lower(row["settings"]).find("flash-attn") != std::string::npos &&
         lower(row["precision"]).starts_with("awq");
}

/// Serving tables say how matrices are multiplied; a checkpoint that is held so already says more.
/// A table that names the kernels of quantised weights and leaves them out for a repository of a
/// hub has its weights as published.
std::string by_kernels(const Measurement& row, const model::Model& model, std::string name) {
  const std::string gemm = row.setting("gemm").value_or("");
  if (name == "not stated" && row.setting("gemm") == "" &&
      row["model"].find('/') != std::string::npos)
    return model.checkpoint_scheme;
  if (name == "fp8" && (gemm == "fp8_block" || model.checkpoint_scheme.starts_with("fp8")))
    return model.checkpoint_scheme.starts_with("fp8") ? model.checkpoint_scheme : "fp8-block";
  if (name == "fp4" && gemm == "nvfp4") return "nvfp4";
  if (name == "int4" && gemm == "int4_wo") return "int4-32g";
  return name;
}

}  // namespace

std::string_view name_of(Skip reason) {
  switch (reason) {
    case Skip::grade:
      return "grade C: the set-up is incomplete";
    case Skip::task:
      return "a task that is not estimated";
    case Skip::model:
      return "a model without a config or a described class";
    case Skip::device:
      return "hardware that the catalogue does not have";
    case Skip::precision:
      return "a precision that is not stated or not described";
    case Skip::runtime:
      return "an engine that is not described";
    case Skip::setting:
      return "a needed setting is not stated";
    case Skip::feature:
      return "a feature that is not described";
    case Skip::statistic:
      return "a statistic that no estimate gives";
    case Skip::capacity:
      return "more memory used than the cards of the row have";
    case Skip::digits:
      return "one significant digit";
    case Skip::contradiction:
      return "another row of its source does more in half the time";
    case Skip::memory_rate:
      return "faster than the weights can be read from the memories that they are in";
  }
  return "";
}

const EngineName& engine_of(const Measurement& row) {
  const std::string written =
      lower(row.setting("framework").value_or(row.setting("loader").value_or("")));
  if (written.empty()) throw Skipped(Skip::setting, "the engine is not stated");
  const EngineName* found = nullptr;
  for (const EngineName& each : engines)
    if (written.starts_with(each.starts) && (!found || each.starts.size() > found->starts.size()))
      found = &each;
  if (!found) throw Skipped(Skip::runtime, fmt::format("engine '{}'", written));
  if (found->starts != "text-generation-webui") return *found;
  // Its loader follows from the format of the weights.
  const std::string precision = lower(row["precision"]);
  const std::string_view loader = precision.starts_with("awq")    ? "autoawq"
                                  : precision.starts_with("exl2") ? "exllama"
                                                                  : "llama.cpp";
  static const auto loaders = [found] {
    std::array<EngineName, 3> all{*found, *found, *found};
    all[1].runtime = "autoawq";
    all[2].runtime = "exllama";
    return all;
  }();
  return *std::ranges::find(loaders, loader, &EngineName::runtime);
}

std::string_view version_of(const Measurement& row, std::string_view runtime) {
  const std::string settings = lower(row["settings"]);
  if (runtime == "llama.cpp") return llama_cpp_of(row, settings);
  if (runtime == "ik_llama.cpp") return with_blas(row) ? "ik_llama.cpp-blas" : runtime;
  if (runtime == "vllm") {
    int major = 0, minor = 0;
    for (auto at = settings.find("vllm"); at != std::string::npos && major + minor == 0;
         at = settings.find("vllm", at + 1)) {
      const char* rest = settings.c_str() + at + 4;
      if (std::sscanf(rest, " v%d.%d", &major, &minor) != 2 &&
          std::sscanf(rest, " %d.%d", &major, &minor) != 2)
        major = minor = 0;
    }
    if (major + minor == 0) {
      const bool old = settings.find(" 2023") != std::string::npos;
      return vllm_of_tracker(row["source"]).value_or(old ? "vllm-0.2" : runtime);
    }
    return major > 0 ? runtime : vllm_of(minor);
  }
  if (runtime == "autoawq")
    return lower(row["precision"]).ends_with(" gemv") ? "autoawq-gemv" : runtime;
  if (runtime == "exllama")
    return settings.find("exllama v1") != std::string::npos ? "exllama-1" : runtime;
  if (runtime == "sglang") {
    constexpr std::string_view series = "sglang 0.4.";
    const auto at = settings.find(series);
    const bool older =
        at != std::string::npos && std::atoi(settings.c_str() + at + series.size()) < 9;
    return older ? "sglang-0.4" : runtime;
  }
  if (runtime != "transformers") return runtime;
  constexpr std::string_view word = "transformers ";
  for (auto at = settings.find(word); at != std::string::npos; at = settings.find(word, at + 1)) {
    int major = 0, minor = 0;
    if (std::sscanf(settings.c_str() + at + word.size(), "%d.%d", &major, &minor) != 2) continue;
    const int version = 100 * major + minor;
    return version < 421   ? "transformers-4.20"
           : version < 436 ? "transformers-4.35"
           : version < 445 ? "transformers-4.44"
           : version < 448 ? "transformers-4.47"
           : version < 500
               ? with_flash_attention(row) ? "transformers-4.57-fa2" : "transformers-4.57"
               : runtime;
  }
  // PyTorch 2.0 is of 2023, 2.1 to 2.3 were current until July 2024. Without any version a table is
  // older than version 5, of 2026.
  const auto torch = settings.find("torch 2.");
  const int minor = torch == settings.npos ? 9 : std::atoi(settings.c_str() + torch + 8);
  return minor < 1 ? "transformers-4.35" : minor < 4 ? "transformers-4.47" : "transformers-4.57";
}

model::Override flash_attention_of(const Measurement& row) {
  if (const auto flash = row.setting("fa"))
    return *flash == "0" || *flash == "off" ? model::Override::off : model::Override::on;
  const std::string settings = lower(row["settings"]);
  for (const auto word : {"no flash attention", "flash_attention=off"})
    if (settings.find(word) != settings.npos) return model::Override::off;
  return model::Override::engine_default;
}

Size threads_of(const Measurement& row) {
  for (const auto& [key, value] : row.settings) {
    const auto number = key == "threads"            ? leading_number(value)
                        : key.ends_with(" threads") ? leading_number(key)
                                                    : std::nullopt;
    if (number) return static_cast<Size>(*number);
  }
  return 0;
}

const model::Scheme& scheme_of(const Measurement& row, const model::Model& model,
                               const model::Engine& runtime) {
  std::string name = lower(row["precision"]);
  if (const auto remark = name.find(" (");
      remark != std::string::npos && !name.ends_with("default)"))
    name.resize(remark);
  for (const std::string_view each : without_effect)
    if (name.ends_with(each)) name.resize(name.size() - each.size());
  if (name.starts_with("auto") || name.starts_with("native"))
    return model::scheme(model.checkpoint_scheme);
  name = by_kernels(row, model, std::move(name));
  const bool gguf = runtime.family == "llama.cpp" || runtime.family == "ktransformers";
  for (const Words& each : precisions_in_words)
    if (each.written == name && (each.runtime.empty() || each.runtime == runtime.family)) {
      name = each.scheme;
      break;
    }
  if (gguf && (name == "fp16" || name == "bf16" || name == "fp32"))
    name = name == "fp16" ? "gguf-f16" : name == "bf16" ? "gguf-bf16" : "gguf-f32";
  if (const model::Scheme* found = known(name)) return *found;
  throw Skipped(Skip::precision, fmt::format("precision '{}'", row["precision"]));
}

}  // namespace headroom::sweep
