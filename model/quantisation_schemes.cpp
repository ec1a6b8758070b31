// The table of schemes, and the packed layouts that are more than blocks of one format: scales,
// zero points and codebooks that lie beside the elements.
#include "hardware/names.hpp"
#include "model/quantisation.hpp"

namespace headroom::model {
namespace {

constexpr Size divided_up(Size a, Size b) { return (a + b - 1) / b; }

Size groups(const Matrix& m, const Scheme& s) {
  return s.group == 0 ? 1 : divided_up(m.in, s.group);
}

/// count * (out * in + 4): one fp32 scale a matrix.
/// Source: transformers 5.23 integrations/finegrained_fp8.py (no block size), ModelOpt FP8.
Bytes fp8_tensor(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 4); }

/// As above with a second fp32 scale a matrix, for its input.
Bytes fp8_static(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * m.in + 8); }

/// count * (out * in + 4 * ceil(out / g) * ceil(in / g)): one fp32 scale a square of g x g.
/// Source: DeepSeek-V3's config (weight_block_size) and arXiv:2412.19437 section 3.3.
Bytes fp8_block(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(m.out * m.in + 4 * divided_up(m.out, s.group) * divided_up(m.in, s.group));
}

/// count * (out * in + 2 * out): one 16-bit scale a row.
/// Source: compressed-tensors, strategy "channel" (FP8-dynamic, W8A8).
Bytes row_scaled(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 2)); }

/// count * (out * in + 4 * out): one fp32 absolute maximum (SCB) a row.
/// Source: bitsandbytes nn/modules.py, Int8Params; arXiv:2208.07339.
Bytes llm_int8(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 4)); }

/// count * (4 * out * ceil(in / 8) + 2 * out * ceil(in / g) + 16): eight values an int32, a 16-bit
/// scale a group, the shape as two int64.
/// Source: compressed-tensors, compressors/quantized_compressors/pack_quantized.py (symmetric).
Bytes packed_int4(const Matrix& m, const Scheme& s) {
  return m.count * Bytes(4 * m.out * divided_up(m.in, 8) + 2 * m.out * groups(m, s) + 16);
}

/// n / 2 + 4 * ceil(n / 64) + 64: elements, an fp32 absolute maximum a block, a 16-entry fp32 map.
/// Source: bitsandbytes functional.py, quantize_4bit; arXiv:2305.14314 section 3.
Bytes bitsandbytes_4bit(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in;
  return m.count * Bytes(divided_up(n, 2) + 4 * divided_up(n, 64) + 64);
}

/// As above with the maxima themselves in 8 bit: a byte a block, an fp32 a 256 blocks, a 256-entry
/// fp32 map and an fp32 offset. Source: bitsandbytes functional.py, compress_statistics.
Bytes bitsandbytes_4bit_double(const Matrix& m, const Scheme&) {
  const Size n = m.out * m.in, blocks = divided_up(n, 64);
  return m.count * Bytes(divided_up(n, 2) + blocks + 4 * divided_up(blocks, 256) + 1024 + 4 + 64);
}

/// count * (4 * ceil(in * bits / 32) * out + 4 * groups * ceil(out * bits / 32) + 2 * groups * out
/// + 4 * in + 2 * out): qweight, qzeros, scales, g_idx, and the zero bias that AutoGPTQ stores for
/// a layer without one. Source: AutoGPTQ nn_modules/qlinear, register_buffer calls;
/// arXiv:2210.17323. Newer GPTQModel leaves that bias out.
Bytes gptq(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s);
  return m.count *
         Bytes(4 * divided_up(m.in * s.bits, 32) * m.out + 4 * g * divided_up(m.out * s.bits, 32) +
               2 * g * m.out + 4 * m.in + (m.biased ? 0 : 2 * m.out));
}

/// count * (4 * in * ceil(out / 8) + 4 * groups * ceil(out / 8) + 2 * groups * out): qweight,
/// qzeros, scales. Source: AutoAWQ modules/linear/gemm.py; arXiv:2306.00978.
Bytes awq(const Matrix& m, const Scheme& s) {
  const Size g = groups(m, s), words = divided_up(m.out, 8);
  return m.count * Bytes(4 * m.in * words + 4 * g * words + 2 * g * m.out);
}

/// count * (out * ceil(in / 16) * 9 + 8): eight bytes of elements and an fp8 scale for every 16,
/// two fp32 scales a matrix (weights and input). Source: NVIDIA ModelOpt, export of NVFP4.
Bytes nvfp4(const Matrix& m, const Scheme&) {
  return m.count * Bytes(9 * m.out * divided_up(m.in, 16) + 8);
}

constexpr std::string_view linear_note =
    "linear layers and experts; embeddings, norms, routers and the head stay in 16 bit";
constexpr std::string_view decoder_note =
    "linear layers of decoding blocks; embeddings, norms, routers, towers and the head stay in 16 "
    "bit";
constexpr std::string_view bitsandbytes_source =
    "bitsandbytes 95f9af30 functional.py; transformers 5.23 integrations/bitsandbytes.py";
constexpr std::string_view gptq_source = "AutoGPTQ 9f7d370 qlinear_cuda_old.py";
constexpr std::string_view awq_source = "AutoAWQ 88e4c76 awq/modules/linear/gemm.py";
constexpr std::string_view compressed_source = "compressed-tensors, preset schemes";

const std::vector<Scheme>& table() {
  static const std::vector<Scheme> rows = {
      {"fp32",
       {"float32", "f32"},
       SchemeFamily::plain,
       "every tensor, 4 bytes",
       "IEEE 754",
       Reach::everything,
       "fp32"},
      {"bf16",
       {"bfloat16"},
       SchemeFamily::plain,
       "every tensor, 2 bytes",
       "bfloat16",
       Reach::everything,
       "bf16"},
      {"fp16",
       {"float16", "half"},
       SchemeFamily::plain,
       "every tensor, 2 bytes",
       "IEEE 754",
       Reach::everything,
       "fp16"},
      {"fp8",
       {"fp8-tensor", "float8", "float8_e4m3fn", "e4m3"},
       SchemeFamily::fp8,
       linear_note,
       "transformers 5.23 integrations/finegrained_fp8.py",
       Reach::linears,
       "fp8",
       fp8_tensor},
      {"fp8-static",
       {},
       SchemeFamily::fp8,
       linear_note,
       "NVIDIA ModelOpt FP8",
       Reach::linears,
       "fp8",
       fp8_static},
      {"fp8-block",
       {"fp8-block128"},
       SchemeFamily::fp8,
       linear_note,
       "DeepSeek-V3 config: weight_block_size [128, 128]",
       Reach::linears,
       "fp8",
       fp8_block,
       128},
      {"fp8-channel",
       {"fp8-dynamic"},
       SchemeFamily::fp8,
       linear_note,
       compressed_source,
       Reach::linears,
       "fp8",
       row_scaled},
      {"int8",
       {"llm-int8", "bnb-int8", "bitsandbytes-int8"},
       SchemeFamily::bitsandbytes,
       linear_note,
       bitsandbytes_source,
       Reach::linears,
       "int8",
       llm_int8},
      {"w8a8-int8",
       {"w8a8"},
       SchemeFamily::compressed_tensors,
       linear_note,
       compressed_source,
       Reach::linears,
       "int8",
       row_scaled},
      {"int4",
       {"w4a16"},
       SchemeFamily::compressed_tensors,
       linear_note,
       compressed_source,
       Reach::linears,
       "int4",
       packed_int4,
       128,
       4},
      {"int4-64g",
       {},
       SchemeFamily::compressed_tensors,
       linear_note,
       compressed_source,
       Reach::linears,
       "int4",
       packed_int4,
       64,
       4},
      {"int4-32g",
       {},
       SchemeFamily::compressed_tensors,
       linear_note,
       compressed_source,
       Reach::linears,
       "int4",
       packed_int4,
       32,
       4},
      {"int4-nogroup",
       {},
       SchemeFamily::compressed_tensors,
       linear_note,
       compressed_source,
       Reach::linears,
       "int4",
       packed_int4,
       0,
       4},
      {"nf4",
       {"bnb-nf4"},
       SchemeFamily::bitsandbytes,
       linear_note,
       bitsandbytes_source,
       Reach::linears,
       "nf4",
       bitsandbytes_4bit},
      {"nf4-double",
       {"nf4-dq"},
       SchemeFamily::bitsandbytes,
       linear_note,
       bitsandbytes_source,
       Reach::linears,
       "nf4",
       bitsandbytes_4bit_double},
      {"fp4",
       {"bnb-fp4"},
       SchemeFamily::bitsandbytes,
       linear_note,
       bitsandbytes_source,
       Reach::linears,
       "fp4",
       bitsandbytes_4bit},
      {"fp4-double",
       {"fp4-dq"},
       SchemeFamily::bitsandbytes,
       linear_note,
       bitsandbytes_source,
       Reach::linears,
       "fp4",
       bitsandbytes_4bit_double},
      {"mxfp4",
       {},
       SchemeFamily::fp4,
       "experts, or linear layers of a model without; the rest stays in 16 bit",
       "OCP Microscaling Formats 1.0; gpt-oss config: modules_to_not_convert",
       Reach::experts,
       "mxfp4"},
      {"mxfp4-linear",
       {},
       SchemeFamily::fp4,
       linear_note,
       "OCP Microscaling Formats 1.0",
       Reach::linears,
       "mxfp4"},
      {"nvfp4",
       {},
       SchemeFamily::fp4,
       linear_note,
       "NVIDIA ModelOpt NVFP4",
       Reach::linears,
       "nvfp4",
       nvfp4},
      {"gptq-int4",
       {"gptq", "gptq-int4-128g", "gptq-4bit-128g"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int4",
       gptq,
       128,
       4},
      {"gptq-int4-64g",
       {"gptq-4bit-64g"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int4",
       gptq,
       64,
       4},
      {"gptq-int4-32g",
       {"gptq-4bit-32g"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int4",
       gptq,
       32,
       4},
      {"gptq-int4-nogroup",
       {"gptq-4bit-nogroup"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int4",
       gptq,
       0,
       4},
      {"gptq-int8",
       {"gptq-int8-128g", "gptq-8bit-128g"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int8",
       gptq,
       128,
       8},
      {"gptq-int8-nogroup",
       {"gptq-8bit-nogroup"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int8",
       gptq,
       0,
       8},
      {"gptq-int3",
       {"gptq-int3-128g", "gptq-3bit-128g"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int3",
       gptq,
       128,
       3},
      {"gptq-int3-nogroup",
       {"gptq-3bit-nogroup"},
       SchemeFamily::gptq,
       decoder_note,
       gptq_source,
       Reach::decoder_blocks,
       "int3",
       gptq,
       0,
       3},
      {"awq-int4",
       {"awq", "awq-int4-128g", "awq-4bit-128g"},
       SchemeFamily::awq,
       decoder_note,
       awq_source,
       Reach::decoder_blocks,
       "int4",
       awq,
       128,
       4},
      {"awq-int4-64g",
       {"awq-4bit-64g"},
       SchemeFamily::awq,
       decoder_note,
       awq_source,
       Reach::decoder_blocks,
       "int4",
       awq,
       64,
       4},
      {"awq-int4-32g",
       {"awq-4bit-32g"},
       SchemeFamily::awq,
       decoder_note,
       awq_source,
       Reach::decoder_blocks,
       "int4",
       awq,
       32,
       4},
  };
  return rows;
}

}  // namespace

std::span<const Scheme> schemes() { return table(); }

const Scheme& scheme(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const Scheme& row : table()) {
    if (lower(row.name) == wanted) return row;
    for (const std::string_view alias : row.aliases)
      if (lower(alias) == wanted) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("precision", name, known);
}

}  // namespace headroom::model
