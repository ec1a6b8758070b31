// The table of schemes.
#include <algorithm>
#include <string>
#include <utility>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/checkpoint_layouts.hpp"
#include "model/checkpoint/quantisation/exl.hpp"
#include "model/checkpoint/quantisation/gguf_schemes.hpp"
#include "model/checkpoint/quantisation/layout.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/undescribed.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

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

using Names = std::vector<std::string_view>;
using Packed = Bytes (*)(const Matrix&, const Scheme&);

/// A row that converts linear layers and experts.
Scheme linears(std::string_view name, Names aliases, SchemeFamily family, std::string_view source,
               std::string_view format, Packed packed, Size group = 0, Size bits = 0) {
  return {
      name, std::move(aliases), family, linear_note, source, Reach::linears, format, packed, group,
      bits};
}

/// A row of GPTQ or AWQ.
Scheme decoders(std::string_view name, Names aliases, SchemeFamily family, std::string_view format,
                Size group, Size bits) {
  const bool is_awq = family == SchemeFamily::awq;
  return {name,
          std::move(aliases),
          family,
          decoder_note,
          is_awq ? awq_source : gptq_source,
          Reach::decoder_blocks,
          format,
          is_awq ? layout::awq : layout::gptq,
          group,
          bits};
}

/// Rows of 16 and 32 bit, and rows that convert linear layers.
std::vector<Scheme> linear_rows() {
  using enum SchemeFamily;
  constexpr std::string_view microscaling = "OCP Microscaling Formats 1.0";
  return {
      {"fp32",
       {"float32", "f32"},
       plain,
       "every tensor, 4 bytes",
       "IEEE 754",
       Reach::everything,
       "fp32"},
      {"bf16", {"bfloat16"}, plain, "every tensor, 2 bytes", "bfloat16", Reach::everything, "bf16"},
      {"fp16",
       {"float16", "half", "f16"},
       plain,
       "every tensor, 2 bytes",
       "IEEE 754",
       Reach::everything,
       "fp16"},
      linears("fp8", {"fp8-tensor", "float8", "float8_e4m3fn", "e4m3"}, fp8,
              "transformers 5.23 integrations/finegrained_fp8.py", "fp8", layout::fp8_tensor),
      linears("fp8-static", {}, fp8, "NVIDIA ModelOpt FP8", "fp8", layout::fp8_static),
      linears("fp8-block", {"fp8-block128"}, fp8,
              "DeepSeek-V3 config: weight_block_size [128, 128]", "fp8", layout::fp8_block, 128),
      linears("fp8-channel", {"fp8-dynamic"}, fp8, compressed_source, "fp8", layout::row_scaled),
      linears("int8", {"llm-int8", "bnb-int8", "bitsandbytes-int8"}, bitsandbytes,
              bitsandbytes_source, "int8", layout::llm_int8),
      linears("w8a8-int8", {"w8a8"}, compressed_tensors, compressed_source, "int8",
              layout::row_scaled),
      linears("int4", {"w4a16"}, compressed_tensors, compressed_source, "int4", layout::packed_ints,
              128, 4),
      linears("int4-64g", {}, compressed_tensors, compressed_source, "int4", layout::packed_ints,
              64, 4),
      linears("int4-32g", {}, compressed_tensors, compressed_source, "int4", layout::packed_ints,
              32, 4),
      linears("int4-nogroup", {}, compressed_tensors, compressed_source, "int4",
              layout::packed_ints, 0, 4),
      linears("nf4", {"bnb-nf4"}, bitsandbytes, bitsandbytes_source, "nf4",
              layout::bitsandbytes_4bit),
      linears("nf4-double", {"nf4-dq"}, bitsandbytes, bitsandbytes_source, "nf4",
              layout::bitsandbytes_4bit_double),
      linears("fp4", {"bnb-fp4"}, bitsandbytes, bitsandbytes_source, "fp4",
              layout::bitsandbytes_4bit),
      linears("fp4-double", {"fp4-dq"}, bitsandbytes, bitsandbytes_source, "fp4",
              layout::bitsandbytes_4bit_double),
      {"mxfp4",
       {},
       fp4,
       "experts, or linear layers of a model without; the rest stays in 16 bit",
       microscaling,
       Reach::experts,
       "mxfp4"},
      linears("mxfp4-linear", {}, fp4, microscaling, "mxfp4", nullptr),
      linears("nvfp4", {}, fp4, "NVIDIA ModelOpt NVFP4", "nvfp4", layout::nvfp4),
  };
}

/// Rows of GPTQ and AWQ.
std::vector<Scheme> decoder_rows() {
  using enum SchemeFamily;
  return {
      decoders("gptq-int4", {"gptq", "gptq-int4-128g", "gptq-4bit-128g"}, gptq, "int4", 128, 4),
      decoders("gptq-int4-64g", {"gptq-4bit-64g"}, gptq, "int4", 64, 4),
      decoders("gptq-int4-32g", {"gptq-4bit-32g"}, gptq, "int4", 32, 4),
      decoders("gptq-int4-nogroup", {"gptq-4bit-nogroup"}, gptq, "int4", 0, 4),
      decoders("gptq-int8", {"gptq-int8-128g", "gptq-8bit-128g"}, gptq, "int8", 128, 8),
      decoders("gptq-int8-nogroup", {"gptq-8bit-nogroup"}, gptq, "int8", 0, 8),
      decoders("gptq-int3", {"gptq-int3-128g", "gptq-3bit-128g"}, gptq, "int3", 128, 3),
      decoders("gptq-int3-nogroup", {"gptq-3bit-nogroup"}, gptq, "int3", 0, 3),
      decoders("awq-int4", {"awq", "awq-int4-128g", "awq-4bit-128g"}, awq, "int4", 128, 4),
      decoders("awq-int4-64g", {"awq-4bit-64g"}, awq, "int4", 64, 4),
      decoders("awq-int4-32g", {"awq-4bit-32g"}, awq, "int4", 32, 4),
  };
}

/// A row of MLX.
Scheme mlx_row(std::string_view name, std::string_view format, Size group, Size bits,
               Packed packed = nullptr) {
  return {
      name,
      {},
      SchemeFamily::mlx,
      "all matrices, embeddings and the head included; norms, biases and routers stay in 16 bit",
      "mlx-lm 0.32.2 utils.py quantize_model; mlx.core.quantize",
      Reach::matrices,
      format,
      packed,
      group,
      bits};
}

/// Rows of MLX: groups of 64 with scale and bias, and its microscaling modes.
std::vector<Scheme> mlx_rows() {
  return {
      mlx_row("mlx-8bit", "int8_g64", 64, 8, layout::affine_groups),
      mlx_row("mlx-6bit", "int6_g64", 64, 6, layout::affine_groups),
      mlx_row("mlx-5bit", "int5_g64", 64, 5, layout::affine_groups),
      mlx_row("mlx-4bit", "int4_g64", 64, 4, layout::affine_groups),
      mlx_row("mlx-3bit", "int3_g64", 64, 3, layout::affine_groups),
      mlx_row("mlx-2bit", "int2_g64", 64, 2, layout::affine_groups),
      mlx_row("mlx-mxfp8", "mxfp8", 32, 8),
      mlx_row("mlx-mxfp4", "mxfp4", 32, 4),
      mlx_row("mlx-nvfp4", "nvfp4", 16, 4),
  };
}

/// The methods of families that have one, and of single rows.
std::string_view published_method(const Scheme& row) {
  constexpr std::pair<SchemeFamily, std::string_view> of_families[] = {
      {SchemeFamily::bitsandbytes, "bitsandbytes"},
      {SchemeFamily::gptq, "gptq"},
      {SchemeFamily::awq, "awq"},
      {SchemeFamily::compressed_tensors, "compressed-tensors"},
      {SchemeFamily::mlx, "mlx"}};
  constexpr std::pair<std::string_view, std::string_view> of_rows[] = {
      {"fp8", "fp8"},     {"fp8-block", "fp8"},       {"fp8-channel", "compressed-tensors"},
      {"mxfp4", "mxfp4"}, {"fp8-static", "modelopt"}, {"nvfp4", "modelopt_fp4"}};
  for (const auto& [family, method] : of_families)
    if (row.family == family) return method;
  for (const auto& [name, method] : of_rows)
    if (row.name == name) return method;
  return {};
}

std::vector<Scheme> all_rows() {
  std::vector<Scheme> rows = linear_rows();
  for (const std::vector<Scheme>& more :
       {decoder_rows(), mlx_rows(), exl_schemes(), gguf_schemes()})
    rows.insert(rows.end(), more.begin(), more.end());
  for (Scheme& row : rows)
    if (row.method.empty()) row.method = published_method(row);
  return rows;
}

const std::vector<Scheme>& table() {
  static const std::vector<Scheme> rows = all_rows();
  return rows;
}

/// Rows by their names in lower case, sorted. The first of equal names counts.
class Index {
 public:
  void add(std::string_view name, const Scheme& row) { rows_.emplace_back(lower(name), &row); }
  void sort() { std::ranges::stable_sort(rows_, {}, &Row::first); }
  /// Null where there is no such row.
  const Scheme* find(std::string_view name) const {
    const auto found = std::ranges::lower_bound(rows_, name, {}, &Row::first);
    return found != rows_.end() && found->first == name ? found->second : nullptr;
  }

 private:
  using Row = std::pair<std::string, const Scheme*>;
  std::vector<Row> rows_;
};

/// The table's rows, by name and alias.
const Index& by_name() {
  static const Index all = [] {
    Index rows;
    for (const Scheme& row : table()) {
      rows.add(row.name, row);
      for (const std::string_view alias : row.aliases) rows.add(alias, row);
    }
    rows.sort();
    return rows;
  }();
  return all;
}

/// Layouts of checkpoints, which few questions need.
const Index& layouts_by_name() {
  static const Index all = [] {
    Index rows;
    for (const Scheme& row : checkpoint_layouts()) rows.add(row.name, row);
    rows.sort();
    return rows;
  }();
  return all;
}

}  // namespace

std::span<const Scheme> schemes() { return table(); }

const Scheme* find_scheme(std::string_view name) {
  const std::string wanted = lower(name);
  if (const Scheme* found = by_name().find(wanted)) return found;
  if (const Scheme* found = layouts_by_name().find(wanted)) return found;
  return exl_scheme(wanted);
}

const Scheme& scheme(std::string_view name) {
  if (is_undescribed(name)) throw NotDescribed(why_undescribed(name));
  if (const Scheme* found = find_scheme(name)) return *found;
  std::vector<std::string> known;
  for (const Scheme& row : table()) known.emplace_back(row.name);
  throw unknown_name("precision", name, known);
}

}  // namespace headroom::model
