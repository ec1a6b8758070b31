#include "model/checkpoint/quantisation/checkpoint_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "model/checkpoint/quantisation/layout.hpp"
#include "model/checkpoint/quantisation/quark_layouts.hpp"

namespace headroom::model {
namespace {

using Packed = Bytes (*)(const Matrix&, const Scheme&);

/// A method that packs integers, with all widths and groups.
struct Family {
  std::string_view name;  ///< "{}" for the bits
  SchemeFamily family;
  Reach reach;
  std::vector<Size> bits;
  std::string_view ending;
  Packed packed;
  std::string_view source;
};

constexpr std::string_view compressed = "compressed-tensors, pack_quantized.py";

std::vector<Family> families() {
  using enum SchemeFamily;
  const auto blocks = Reach::decoder_blocks, linears = Reach::linears;
  std::vector<Family> all = {
      {"gptq-int{}", gptq, blocks, {2, 3, 4, 8}, "", layout::gptq, "AutoGPTQ nn_modules/qlinear"},
      {"gptqmodel-int{}",
       gptq,
       blocks,
       {2, 3, 4, 8},
       "",
       layout::gptq_model,
       "GPTQModel nn_modules/qlinear"},
      {"auto-round-int{}",
       gptq,
       blocks,
       {2, 3, 4, 8},
       "",
       layout::auto_round,
       "auto-round qlinear_torch.py"},
      {"awq-int{}", awq, blocks, {4}, "", layout::awq, "AutoAWQ gemm.py"},
  };
  constexpr std::string_view torchao = "torchao 0.18 quantize_/workflows";
  all.push_back(
      {"torchao-int4", compressed_tensors, linears, {4}, "", layout::torchao_int4, torchao});
  all.push_back({"torchao-int4",
                 compressed_tensors,
                 linears,
                 {4},
                 "-tiles",
                 layout::torchao_int4_tiles,
                 torchao});
  all.push_back(
      {"torchao-byte", compressed_tensors, linears, {8}, "", layout::torchao_bytes, torchao});
  const std::pair<std::string_view, Packed> endings[] = {
      {"", layout::packed_ints},
      {"-short-shape", layout::packed_ints_short_shape},
      {"-asymmetric", layout::packed_ints_asymmetric},
      {"-actorder", layout::packed_ints_ordered},
      {"-asymmetric-actorder", layout::packed_ints_asymmetric_ordered}};
  for (const auto& [ending, packed] : endings) {
    all.push_back({"int{}", compressed_tensors, linears, {4}, ending, packed, compressed});
    all.push_back({"packed-int{}", compressed_tensors, linears, {8}, ending, packed, compressed});
  }
  return all;
}

constexpr std::string_view format_of(Size bits) {
  return bits == 2 ? "int2" : bits == 3 ? "int3" : bits == 4 ? "int4" : "int8";
}

constexpr std::string_view note = "as the checkpoint's config says, module by module";

/// Layouts of single methods.
std::vector<Scheme> single_rows() {
  using enum SchemeFamily;
  const auto linears = Reach::linears;
  return {
      {"fp8-channel-fp32",
       {},
       fp8,
       note,
       "transformers 4.57 integrations/fbgemm_fp8.py",
       linears,
       "fp8",
       layout::row_scaled_fp32},
      {"fp8-block-e8m0",
       {},
       fp8,
       note,
       "vLLM 0.33 models/deepseek_v4/quant_config.py",
       linears,
       "fp8",
       layout::fp8_block_e8m0,
       128},
      {"fp8-block32-e8m0",
       {},
       fp8,
       note,
       "vLLM 0.33 models/deepseek_v41/quant_config.py",
       linears,
       "fp8",
       layout::fp8_block_e8m0,
       32},
      {"mxfp8-linear", {}, fp8, note, "OCP Microscaling Formats 1.0", linears, "mxfp8"},
      {"torchao-int8",
       {},
       compressed_tensors,
       note,
       "torchao 0.18 quantize_/workflows",
       linears,
       "int8",
       layout::torchao_int8},
      {"nvfp4-weights",
       {},
       fp4,
       note,
       "NVIDIA ModelOpt W4A16_NVFP4",
       linears,
       "nvfp4",
       layout::nvfp4_weights},
  };
}

/// MLX's affine schemes with the groups that are not its default.
void add_mlx_groups(std::deque<std::string>& names, std::vector<Scheme>& rows) {
  for (const Scheme& usual : schemes())
    for (const Size group : {32, 128}) {
      if (usual.packed != layout::affine_groups) continue;
      names.push_back(fmt::format("{}-{}g", usual.name, group));
      Scheme& row = rows.emplace_back(usual);
      row.name = names.back();
      row.group = group;
    }
}

std::vector<Scheme> made_rows() {
  static std::deque<std::string> names;
  std::vector<Scheme> rows = single_rows();
  add_mlx_groups(names, rows);
  for (const Scheme& row : quark_rows()) rows.push_back(row);
  const std::span<const Scheme> usual = schemes();
  for (const Family& family : families())
    for (const Size bits : family.bits)
      for (const Size group : {0, 16, 32, 64, 128, 256, 512, 1024}) {
        const std::string ending = group == 128 ? ""
                                   : group == 0 ? "-nogroup"
                                                : fmt::format("-{}g", group);
        std::string name = fmt::format(fmt::runtime(family.name), bits) + ending;
        name += family.ending;
        if (std::ranges::find(usual, std::string_view(name), &Scheme::name) != usual.end())
          continue;
        names.push_back(std::move(name));
        rows.push_back({names.back(),
                        {},
                        family.family,
                        note,
                        family.source,
                        family.reach,
                        format_of(bits),
                        family.packed,
                        group,
                        bits});
      }
  return rows;
}

}  // namespace

std::span<const Scheme> checkpoint_layouts() {
  static const std::vector<Scheme> rows = made_rows();
  return rows;
}

}  // namespace headroom::model
