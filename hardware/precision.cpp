// The table of storage formats and their other names in checkpoints and engines. Block bytes
// include the scales of a block. Values stored once a tensor (zero points, fp32 tensor scales,
// maps) are not included.
#include "hardware/precision.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "hardware/names.hpp"

namespace headroom {
namespace {

constexpr std::string_view ieee = "IEEE 754-2019, binary interchange formats";
constexpr std::string_view integers =
    "two's complement; values packed without gaps, scales in a tensor of their own";
constexpr std::string_view grouped =
    "hqq, quanto, MLX: groups of 64 with scale and zero point or bias in 16 bit";
constexpr std::string_view gptq = "AutoGPTQ, qlinear: 32 values in `bits` words of int32";
constexpr std::string_view ocp8 =
    "OCP 8-bit Floating Point Specification 1.0; scales in a tensor of their own";
constexpr std::string_view ocp_mx = "OCP Microscaling Formats 1.0: 32 elements and one E8M0 scale";
constexpr std::string_view nvidia_fp4 = "NVIDIA NVFP4: 16 E2M1 elements and one E4M3 scale";
constexpr std::string_view bitsandbytes =
    "bitsandbytes functional.py: blocks of 64 with one fp32 absmax, no double quantisation";
constexpr std::string_view ggml = "llama.cpp ggml/src/ggml-common.h, block structures";

constexpr std::string_view ik =
    "ik_llama.cpp ggml/src/ggml-common.h, block structures; ggml.c, row_meta_size (PyPI "
    "ik-llama-cpp-python 0.1.5)";

constexpr auto table = std::to_array<Precision>({
    {"fp64", 1, 8, Arithmetic::fp32, ieee},
    {"fp32", 1, 4, Arithmetic::fp32, ieee},
    {"bf16", 1, 2, Arithmetic::bf16, "upper half of IEEE 754 binary32"},
    {"fp16", 1, 2, Arithmetic::fp16, ieee},
    {"fp8", 1, 1, Arithmetic::fp8, ocp8},
    {"fp8_e5m2", 1, 1, Arithmetic::fp8, ocp8},
    {"int8", 1, 1, Arithmetic::int8, integers},
    {"int16", 1, 2, Arithmetic::dequantised, integers},
    {"int32", 1, 4, Arithmetic::dequantised, integers},
    {"int64", 1, 8, Arithmetic::dequantised, integers},
    {"int4", 2, 1, Arithmetic::dequantised, integers},
    {"int3", 32, 12, Arithmetic::dequantised, gptq},
    {"int2", 4, 1, Arithmetic::dequantised, integers},
    {"int8_g64", 64, 68, Arithmetic::dequantised, grouped},
    {"int6_g64", 64, 52, Arithmetic::dequantised, grouped},
    {"int5_g64", 64, 44, Arithmetic::dequantised, grouped},
    {"int4_g64", 64, 36, Arithmetic::dequantised, grouped},
    {"int3_g64", 64, 28, Arithmetic::dequantised, grouped},
    {"int2_g64", 64, 20, Arithmetic::dequantised, grouped},
    {"nf4", 64, 36, Arithmetic::dequantised, bitsandbytes},
    {"fp4", 64, 36, Arithmetic::dequantised, bitsandbytes},
    {"mxfp4", 32, 17, Arithmetic::fp4, ocp_mx},
    {"mxfp6", 32, 25, Arithmetic::fp8, ocp_mx},
    {"mxfp8", 32, 33, Arithmetic::fp8, ocp_mx},
    {"nvfp4", 16, 9, Arithmetic::fp4, nvidia_fp4},
    {"q4_0", 32, 18, Arithmetic::dequantised, ggml},
    {"q4_1", 32, 20, Arithmetic::dequantised, ggml},
    {"q5_0", 32, 22, Arithmetic::dequantised, ggml},
    {"q5_1", 32, 24, Arithmetic::dequantised, ggml},
    {"q8_0", 32, 34, Arithmetic::dequantised, ggml},
    {"q8_1", 32, 36, Arithmetic::dequantised, ggml},
    {"q2_K", 256, 84, Arithmetic::dequantised, ggml},
    {"q3_K", 256, 110, Arithmetic::dequantised, ggml},
    {"q4_K", 256, 144, Arithmetic::dequantised, ggml},
    {"q5_K", 256, 176, Arithmetic::dequantised, ggml},
    {"q6_K", 256, 210, Arithmetic::dequantised, ggml},
    {"q8_K", 256, 292, Arithmetic::dequantised, ggml},
    {"iq1_s", 256, 50, Arithmetic::dequantised, ggml},
    {"iq1_m", 256, 56, Arithmetic::dequantised, ggml},
    {"iq2_xxs", 256, 66, Arithmetic::dequantised, ggml},
    {"iq2_xs", 256, 74, Arithmetic::dequantised, ggml},
    {"iq2_s", 256, 82, Arithmetic::dequantised, ggml},
    {"iq3_xxs", 256, 98, Arithmetic::dequantised, ggml},
    {"iq3_s", 256, 110, Arithmetic::dequantised, ggml},
    {"iq4_nl", 32, 18, Arithmetic::dequantised, ggml},
    {"iq4_xs", 256, 136, Arithmetic::dequantised, ggml},
    {"tq1_0", 256, 54, Arithmetic::dequantised, ggml},
    {"tq2_0", 256, 66, Arithmetic::dequantised, ggml},
    {"q1_0", 128, 18, Arithmetic::dequantised, ggml},
    {"q2_0", 64, 18, Arithmetic::dequantised, ggml},
    {"q6_0", 32, 26, Arithmetic::dequantised, ik},
    {"iq2_k", 256, 76, Arithmetic::dequantised, ik},
    {"iq3_k", 256, 110, Arithmetic::dequantised, ik},
    {"iq4_k", 256, 144, Arithmetic::dequantised, ik},
    {"iq5_k", 256, 176, Arithmetic::dequantised, ik},
    {"iq6_k", 256, 212, Arithmetic::dequantised, ik},
    {"iq2_ks", 256, 70, Arithmetic::dequantised, ik, 2},
    {"iq3_ks", 256, 102, Arithmetic::dequantised, ik, 2},
    {"iq4_ks", 256, 136, Arithmetic::dequantised, ik, 4},
    {"iq5_ks", 256, 168, Arithmetic::dequantised, ik, 4},
    {"iq4_kss", 256, 128, Arithmetic::dequantised, ik, 4},
    {"iq2_kl", 256, 86, Arithmetic::dequantised, ik, 2},
    {"iq1_kt", 256, 56, Arithmetic::dequantised, ik, 4},
    {"iq2_kt", 256, 68, Arithmetic::dequantised, ik, 4},
    {"iq3_kt", 256, 100, Arithmetic::dequantised, ik, 4},
    {"iq4_kt", 256, 128, Arithmetic::dequantised, ik, 4},
    {"iq1_s_r4", 32, 6, Arithmetic::dequantised, ik, 2},
    {"iq1_m_r4", 32, 7, Arithmetic::dequantised, ik, 2},
    {"iq1_bn", 64, 13, Arithmetic::dequantised, ik, 2},
    {"iq2_bn", 64, 16, Arithmetic::dequantised, ik, 4},
    {"q8_KV", 32, 32, Arithmetic::dequantised, ik, 8},
    {"q8_KV_r8", 32, 32, Arithmetic::dequantised, ik, 4},
    {"q8_K_r8", 256, 258, Arithmetic::dequantised, ik},
    {"q8_K_r16", 256, 258, Arithmetic::dequantised, ik},
});

struct Alias {
  std::string_view alias, name;
};

/// Other spellings: PyTorch, safetensors, ONNX and GGUF.
constexpr auto aliases = std::to_array<Alias>({
    {"float64", "fp64"},
    {"double", "fp64"},
    {"f64", "fp64"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"f32", "fp32"},
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"f16", "fp16"},
    {"e4m3", "fp8"},
    {"fp8_e4m3", "fp8"},
    {"f8_e4m3", "fp8"},
    {"fp8_e4m3fn", "fp8"},
    {"float8_e4m3fn", "fp8"},
    {"float8", "fp8"},
    {"e5m2", "fp8_e5m2"},
    {"f8_e5m2", "fp8_e5m2"},
    {"float8_e5m2", "fp8_e5m2"},
    {"i8", "int8"},
    {"8bit", "int8"},
    {"i16", "int16"},
    {"i32", "int32"},
    {"i64", "int64"},
    {"i4", "int4"},
    {"uint8", "int8"},
    {"u8", "int8"},
    {"4bit", "int4"},
});

}  // namespace

std::span<const Precision> precisions() { return table; }

const Precision& precision(std::string_view name) {
  for (const Precision& each : table)  // rules ask by these names for each tensor
    if (each.name == name) return each;
  std::string asked = lower(name);
  if (const auto* alias = std::ranges::find(aliases, asked, &Alias::alias); alias != aliases.end())
    asked = lower(alias->name);
  for (const Precision& each : table)
    if (lower(each.name) == asked) return each;
  std::vector<std::string> known;
  for (const Precision& each : table) known.emplace_back(each.name);
  for (const Alias& each : aliases) known.emplace_back(each.alias);
  throw unknown_name("precision", name, known);
}

}  // namespace headroom
