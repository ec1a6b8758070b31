#include "model/runtime_engines.hpp"

#include <array>

namespace headroom::model {
namespace {

constexpr auto every_family = std::to_array<SchemeFamily>(
    {SchemeFamily::plain, SchemeFamily::bitsandbytes, SchemeFamily::gptq, SchemeFamily::awq,
     SchemeFamily::fp8, SchemeFamily::fp4, SchemeFamily::compressed_tensors});
constexpr auto gguf_families =
    std::to_array<SchemeFamily>({SchemeFamily::plain, SchemeFamily::gguf, SchemeFamily::fp4,
                                 SchemeFamily::fp8, SchemeFamily::compressed_tensors});

/// What one engine does otherwise than the row it starts from.
struct Engine {
  std::string_view name, version, source, like;
  Split split;
  Offload offload;
  Launch launch;
  std::span<const SchemeFamily> holds;
  bool cpu = false;
};

constexpr auto engines = std::to_array<Engine>({
    {"sglang", "0.5", "SGLang 0.5: as vLLM, radix cache", "vllm", Split::tensors, Offload::none,
     Launch::added, every_family},
    {"tensorrt-llm", "1.0", "TensorRT-LLM 1.0, PyTorch backend", "vllm", Split::tensors,
     Offload::none, Launch::added, every_family},
    {"deepspeed-inference", "0.7", "DeepSpeed-Inference of 2022: kernel injection, tensor slicing",
     "transformers", Split::tensors, Offload::none, Launch::added, every_family},
    {"exllama", "1 and 2", "turboderp/exllama, turboderp/exllamav2", "transformers", Split::layers,
     Offload::none, Launch::added, every_family},
    {"autoawq", "0.1.6", "casper-hansen/AutoAWQ 0.1.6 with fused modules", "transformers",
     Split::layers, Offload::none, Launch::added, every_family, true},
    {"litgpt", "2023-11", "Lightning-AI/litgpt generate/base.py, eager PyTorch 2.1", "transformers",
     Split::layers, Offload::none, Launch::overlapped, every_family},
    {"gpt-fast", "2024", "pytorch-labs/gpt-fast, torch.compile", "transformers", Split::tensors,
     Offload::none, Launch::added, every_family},
    {"mlc-llm", "2023-10", "mlc-ai/llm-perf-bench", "transformers", Split::tensors, Offload::none,
     Launch::added, every_family},
    {"calm", "2024", "zeux/calm: one CUDA kernel a token", "transformers", Split::layers,
     Offload::none, Launch::added, every_family},
    {"zero-inference", "0.7 to 0.10", "DeepSpeed ZeRO-Inference: every weight streamed each pass",
     "transformers", Split::layers, Offload::stream, Launch::added, every_family},
    {"flexgen", "0.1.7", "FMInference/FlexLLMGen: blocks of batches share a pass of the weights",
     "transformers", Split::layers, Offload::stream, Launch::added, every_family},
    {"ktransformers", "0.2", "kvcache-ai/ktransformers: experts on the CPU", "llama.cpp",
     Split::layers, Offload::compute, Launch::added, gguf_families},
});

/// Every constant that a row carries.
constexpr auto constants = std::to_array<Constant Runtime::*>({
    &Runtime::context_bytes,
    &Runtime::host_bytes,
    &Runtime::fragmentation,
    &Runtime::decode_bandwidth,
    &Runtime::prefill_compute,
    &Runtime::stream_bandwidth,
    &Runtime::cpu_bandwidth,
    &Runtime::cpu_compute,
    &Runtime::disk_bandwidth,
    &Runtime::layer_overhead_s,
    &Runtime::reduce_latency_s,
    &Runtime::load_bandwidth,
    &Runtime::load_fixed_s,
});

}  // namespace

std::vector<Runtime> with_engines(std::span<const Runtime> base) {
  std::vector<Runtime> all(base.begin(), base.end());
  for (const Engine& engine : engines)
    for (const Runtime& like : base) {
      if (like.name != engine.like) continue;
      Runtime row = like;
      row.name = engine.name;
      row.version = engine.version;
      row.source = engine.source;
      row.split = engine.split;
      row.offload = engine.offload;
      row.launch = engine.launch;
      row.holds = engine.holds;
      row.disk = engine.offload == Offload::stream;
      row.cpu = engine.cpu || engine.offload != Offload::none;
      row.whole_only = {};
      for (Constant Runtime::*each : constants) {  // nothing was measured with this engine
        (row.*each).measurements = 0;
        (row.*each).source = "of the engine that it is derived from, unmeasured here";
      }
      all.push_back(row);
    }
  return all;
}

}  // namespace headroom::model
