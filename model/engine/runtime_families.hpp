// What the rows of engines are made of: model/engine/runtime_rows.cpp and the families of engines
// beside it.
#pragma once

#include <array>
#include <vector>

#include "model/engine/runtime.hpp"

namespace headroom::model {

inline constexpr auto torch_families = std::to_array<SchemeFamily>(
    {SchemeFamily::plain, SchemeFamily::bitsandbytes, SchemeFamily::gptq, SchemeFamily::awq,
     SchemeFamily::fp8, SchemeFamily::fp4, SchemeFamily::compressed_tensors});

// Makers of cards, by each project's notes on installation.
inline constexpr auto of_nvidia = std::to_array<std::string_view>({"nvidia"});
inline constexpr auto of_nvidia_amd = std::to_array<std::string_view>({"nvidia", "amd"});
inline constexpr auto of_torch = std::to_array<std::string_view>({"nvidia", "amd", "intel"});
inline constexpr auto of_desktops =
    std::to_array<std::string_view>({"nvidia", "amd", "intel", "apple"});
inline constexpr auto of_servers =
    std::to_array<std::string_view>({"nvidia", "amd", "intel", "google", "aws"});

// Formats of keys and values. Those of weights' own width are the default of every engine.
inline constexpr auto caches_of_torch = std::to_array<CacheFormat>({{"fp16"}, {"bf16"}, {"fp32"}});

/// Of programs that run decoders alone.
inline constexpr std::span<const std::string_view> no_encoder_decoders;

constexpr Constant guess(double value, double low, double high) {
  return {value, low, high, 0, "rule of thumb, unmeasured"};
}

/// What no row says otherwise.
Engine start();
/// `r` as an engine of its own.
Engine like(Engine r, std::string_view name, std::string_view version, std::string_view source);

// Families, newest first.
std::vector<Engine> transformers_rows();
std::vector<Engine> llama_cpp_rows();
std::vector<Engine> vllm_rows();
Engine transformers_4();
Engine llama_cpp();
Engine vllm();

}  // namespace headroom::model
