#include "model/runtime.hpp"

#include <array>
#include <string>
#include <vector>

#include "hardware/names.hpp"
#include "model/runtime_engines.hpp"

namespace headroom::model {
namespace {

constexpr double MiB = 1048576.0;

constexpr SchemeFamily transformers_holds[] = {SchemeFamily::plain,
                                               SchemeFamily::bitsandbytes,
                                               SchemeFamily::gptq,
                                               SchemeFamily::awq,
                                               SchemeFamily::fp8,
                                               SchemeFamily::fp4,
                                               SchemeFamily::compressed_tensors};
// transformers 5.23 quantizers/quantizer_bnb_8bit.py and _4bit.py refuse a map with both cards and
// host.
constexpr SchemeFamily transformers_whole_only[] = {SchemeFamily::bitsandbytes};
constexpr SchemeFamily llama_cpp_holds[] = {SchemeFamily::plain, SchemeFamily::gguf,
                                            SchemeFamily::fp4};
constexpr SchemeFamily vllm_holds[] = {SchemeFamily::plain,
                                       SchemeFamily::bitsandbytes,
                                       SchemeFamily::gptq,
                                       SchemeFamily::awq,
                                       SchemeFamily::fp8,
                                       SchemeFamily::fp4,
                                       SchemeFamily::compressed_tensors};

constexpr std::string_view bert_large =
    "CUDA context of 1343 MiB on a V100, HF performance documentation (bert-large example)";
constexpr std::string_view qwen_tables =
    "Qwen2, Qwen2.5 and Qwen3 speed benchmark documents, one A100 80 GB or H20";
constexpr std::string_view llama_bench_tables =
    "XiongjieDai/GPU-Benchmarks-on-LLM-Inference@aa72e0e, llama-bench, one card";
constexpr std::string_view rule = "rule of thumb, unmeasured";

constexpr std::array rows{
    Runtime{
        .name = "transformers",
        .version = "5.23",
        .source = "transformers 5.23 and accelerate 1.15: big model inference, cache_utils.py",
        .holds = transformers_holds,
        .whole_only = transformers_whole_only,
        .split = Split::layers,
        .offload = Offload::stream,
        .launch = Launch::overlapped,
        .disk = true,
        .cpu = true,
        .window_capped = true,
        .latent_cache = true,
        .experts_apart = false,
        .input_on_cpu = false,
        .cache_optional = true,
        .strict_positions = false,
        .holds_back = false,
        .vocabulary_multiple = 1,
        .window_slack = 0,
        .kv_block = 1,
        .state_bytes = 2,
        .prefill_chunk = 0,
        .logits_bytes = 4,
        .utilization = 1.0,
        .context_bytes = {520 * MiB, 300 * MiB, 1343 * MiB, 1, bert_large},
        .host_bytes = {1024 * MiB, 600 * MiB, 3072 * MiB, 0, rule},
        .fragmentation = {0.02, 0.0, 0.08, 0, rule},
        .decode_bandwidth = {0.50, 0.30, 0.85, 21, qwen_tables},
        .prefill_compute = {0.25, 0.10, 0.60, 61, qwen_tables},
        .stream_bandwidth = {0.45, 0.25, 0.80, 10,
                             "accelerate big_model_inference table, ZeRO-Inference on a T4"},
        .cpu_bandwidth = {0.30, 0.15, 0.60, 0, rule},
        .cpu_compute = {0.40, 0.20, 0.70, 0, rule},
        .disk_bandwidth = {0.60, 0.30, 0.90, 2, "accelerate big_model_inference table"},
        .layer_overhead_s = {0.95e-3, 0.60e-3, 1.30e-3, 21, qwen_tables},
        .reduce_latency_s = {20e-6, 10e-6, 40e-6, 0, rule},
        .load_bandwidth = {0.60, 0.25, 0.95, 11, "accelerate and bloom-inference load times"},
        .load_fixed_s = {3.0, 1.0, 8.0, 0, rule},
    },
    Runtime{
        .name = "llama.cpp",
        .version = "b6400",
        .source = "llama.cpp src/llama-model.cpp, llama-kv-cache-iswa.cpp, -ngl semantics",
        .holds = llama_cpp_holds,
        .whole_only = {},
        .split = Split::layers,
        .offload = Offload::compute,
        .launch = Launch::added,
        .disk = true,
        .cpu = true,
        .window_capped = true,
        .latent_cache = true,
        .experts_apart = true,
        .input_on_cpu = true,
        .cache_optional = false,
        .strict_positions = false,
        .holds_back = false,
        .vocabulary_multiple = 1,
        .window_slack = 512,
        .kv_block = 256,
        .state_bytes = 4,
        .prefill_chunk = 512,
        .logits_bytes = 4,
        .utilization = 1.0,
        .context_bytes = {420 * MiB, 250 * MiB, 600 * MiB, 0, rule},
        .host_bytes = {512 * MiB, 256 * MiB, 1024 * MiB, 0, rule},
        .fragmentation = {0.0, 0.0, 0.02, 0, rule},
        .decode_bandwidth = {0.87, 0.50, 0.95, 19, llama_bench_tables},
        .prefill_compute = {0.43, 0.10, 0.80, 19, llama_bench_tables},
        .stream_bandwidth = {0.70, 0.50, 0.90, 0, rule},
        .cpu_bandwidth = {0.65, 0.45, 0.85, 6, "ik_llama.cpp and llama.cpp offload tables"},
        .cpu_compute = {0.40, 0.20, 0.70, 0, rule},
        .disk_bandwidth = {0.60, 0.30, 0.90, 0, rule},
        .layer_overhead_s = {63e-6, 30e-6, 130e-6, 19, llama_bench_tables},
        .reduce_latency_s = {20e-6, 10e-6, 40e-6, 0, rule},
        .load_bandwidth = {0.80, 0.40, 0.95, 6, "oobabooga GPTQ/AWQ/EXL2/llama.cpp load times"},
        .load_fixed_s = {1.0, 0.3, 3.0, 0, rule},
    },
    Runtime{
        .name = "vllm",
        .version = "0.19",
        .source = "vLLM 0.19: gpu_memory_utilization 0.9, block size 16, chunked prefill",
        .holds = vllm_holds,
        .whole_only = {},
        .split = Split::tensors,
        .offload = Offload::none,
        .launch = Launch::added,
        .disk = false,
        .cpu = false,
        .window_capped = false,
        .latent_cache = true,
        .experts_apart = false,
        .input_on_cpu = false,
        .cache_optional = false,
        .strict_positions = true,
        .holds_back = true,
        .vocabulary_multiple = 64,
        .window_slack = 0,
        .kv_block = 16,
        .state_bytes = 2,
        .prefill_chunk = 8192,
        .logits_bytes = 4,
        .utilization = 0.9,
        .context_bytes = {900 * MiB, 500 * MiB, 1800 * MiB, 0, rule},
        .host_bytes = {4096 * MiB, 2048 * MiB, 8192 * MiB, 0, rule},
        .fragmentation = {0.01, 0.0, 0.04, 0, rule},
        .decode_bandwidth = {0.51, 0.35, 0.85, 21, qwen_tables},
        .prefill_compute = {0.64, 0.40, 0.80, 77, qwen_tables},
        .stream_bandwidth = {0.70, 0.50, 0.90, 0, rule},
        .cpu_bandwidth = {0.50, 0.30, 0.75, 0, rule},
        .cpu_compute = {0.40, 0.20, 0.70, 0, rule},
        .disk_bandwidth = {0.60, 0.30, 0.90, 0, rule},
        .layer_overhead_s = {82e-6, 20e-6, 160e-6, 21, qwen_tables},
        .reduce_latency_s = {12e-6, 6e-6, 25e-6, 0, rule},
        .load_bandwidth = {0.60, 0.25, 0.95, 2, "ServerlessLLM load-time table"},
        .load_fixed_s = {20.0, 8.0, 60.0, 0, rule},
    },
};

}  // namespace

std::span<const Runtime> runtimes() {
  static const std::vector<Runtime> all = with_engines(rows);
  return all;
}

const Runtime& runtime(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const Runtime& row : runtimes()) {
    if (row.name == wanted) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("runtime", name, known);
}

}  // namespace headroom::model
