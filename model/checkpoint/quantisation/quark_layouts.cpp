#include "model/checkpoint/quantisation/quark_layouts.hpp"

#include <fmt/format.h>

#include <deque>

#include "model/checkpoint/quantisation/layout.hpp"

namespace headroom::model {
namespace {

using Packed = Bytes (*)(const Matrix&, const Scheme&);

/// count * (4 * out * ceil(in / 8) + scale * out + 4 * ceil(out / 8)): eight values of a row in an
/// int32, a scale and a zero point a row.
template <Size scale>
Bytes int4_rows(const Matrix& m, const Scheme&) {
  return m.count * Bytes(m.out * (4 * divided_up(m.in, 8) + scale) + 4 * divided_up(m.out, 8));
}

/// count * (out * in + 3 * out): a 16-bit scale and a zero point of a byte a row.
Bytes int8_rows(const Matrix& m, const Scheme&) { return m.count * Bytes(m.out * (m.in + 3)); }

/// As AWQ, with scales in fp32.
Bytes int4_groups_fp32(const Matrix& m, const Scheme& s) {
  return layout::awq(m, s) + m.count * Bytes(2 * m.out * divided_up(m.in, s.group));
}

/// Null functions are the format's blocks.
struct QuarkBase {
  std::string_view name;
  SchemeFamily family;
  std::string_view format;
  Packed with_16_bit, with_fp32;            ///< by the type of scales
  Size single_16_bit = 2, single_fp32 = 4;  ///< bytes of a single scale, with its zero point
  Size own = 0;                             ///< single scales of the weights themselves
  Size group = 0;
};

constexpr QuarkBase quark_bases[] = {
    {"fp8", SchemeFamily::fp8, "fp8", nullptr, nullptr, 2, 4, 1},
    {"fp8-channel", SchemeFamily::fp8, "fp8", layout::row_scaled, layout::row_scaled_fp32},
    {"int8", SchemeFamily::compressed_tensors, "int8", nullptr, nullptr, 5, 5, 1},
    {"int8-channel", SchemeFamily::compressed_tensors, "int8", int8_rows, layout::torchao_int8, 5,
     5},
    {"int4-channel", SchemeFamily::compressed_tensors, "int4", int4_rows<2>, int4_rows<4>},
    // FP8 values that are stored as int4: one scale a matrix, and one a row, all of fp32.
    {"int4-fp8", SchemeFamily::compressed_tensors, "int4", int4_rows<4>, int4_rows<4>, 4, 4, 1},
    {"mxfp4", SchemeFamily::fp4, "mxfp4", nullptr, nullptr},
    {"mxfp6", SchemeFamily::fp4, "mxfp6", nullptr, nullptr},
    {"nvfp4", SchemeFamily::fp4, "nvfp4", layout::nvfp4_weights, layout::nvfp4_weights, 4, 4},
    {"int4-32g", SchemeFamily::compressed_tensors, "int4", layout::awq, int4_groups_fp32, 2, 4, 0,
     32},
    {"int4-64g", SchemeFamily::compressed_tensors, "int4", layout::awq, int4_groups_fp32, 2, 4, 0,
     64},
    {"int4-128g", SchemeFamily::compressed_tensors, "int4", layout::awq, int4_groups_fp32, 2, 4, 0,
     128},
};

}  // namespace

std::string quark_name(std::string_view base, const QuarkScales& scales) {
  return fmt::format("quark-{}{}{}{}", base, scales.input ? "-static" : "",
                     scales.output ? "-kv" : "", scales.fp32 ? "-fp32" : "");
}

std::vector<Scheme> quark_rows() {
  static std::deque<std::string> names;
  std::vector<Scheme> rows;
  for (const QuarkBase& each : quark_bases)
    for (const bool fp32 : {false, true})
      for (const bool input : {false, true})
        for (const bool output : {false, true}) {
          const Size singles = each.own + (input ? 1 : 0) + (output ? 1 : 0);
          names.push_back(quark_name(each.name, {input, output, fp32}));
          rows.push_back(
              {.name = names.back(),
               .aliases = {},
               .family = each.family,
               .meaning = "as the checkpoint's config says, module by module",
               .source = "AMD Quark 0.13 export",
               .reach = Reach::linears,
               .format = each.format,
               .packed = fp32 ? each.with_fp32 : each.with_16_bit,
               .group = each.group,
               .single_bytes = singles * (fp32 ? each.single_fp32 : each.single_16_bit)});
        }
  return rows;
}

}  // namespace headroom::model
