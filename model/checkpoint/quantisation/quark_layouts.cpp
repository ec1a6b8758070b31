#include "model/checkpoint/quantisation/quark_layouts.hpp"

#include <fmt/format.h>

#include <deque>

namespace headroom::model {
namespace {

/// Bytes of one matrix, without the scales of its inputs and outputs. `scale`: bytes of a scale.
using Body = Size (*)(const Matrix&, Size group, Size scale);

Size elements(const Matrix& m) { return m.out * m.in; }

/// One scale a matrix.
Size fp8(const Matrix& m, Size, Size scale) { return elements(m) + scale; }
/// One scale a row.
Size fp8_channel(const Matrix& m, Size, Size scale) { return elements(m) + scale * m.out; }
/// A zero point of one byte for each scale, which is fp32 for a whole matrix.
Size int8(const Matrix& m, Size, Size) { return elements(m) + 4 + 1; }
Size int8_channel(const Matrix& m, Size, Size scale) { return elements(m) + (scale + 1) * m.out; }
/// Eight values in an int32, across rows, as AWQ has them: scales and zero points for each group.
Size int4_groups(const Matrix& m, Size group, Size scale) {
  const Size words = divided_up(m.out, 8), groups = divided_up(m.in, group);
  return 4 * m.in * words + groups * (4 * words + scale * m.out);
}
/// Eight values of a row in an int32, with a scale and a zero point a row.
Size int4_channel(const Matrix& m, Size, Size scale) {
  return 4 * m.out * divided_up(m.in, 8) + scale * m.out + 4 * divided_up(m.out, 8);
}
/// FP8 values that are stored as int4: an fp32 scale a matrix, and one a row.
Size int4_fp8(const Matrix& m, Size group, Size) { return int4_channel(m, group, 4) + 4; }
/// A byte of scale (E8M0) for 32 values of a row.
Size mxfp4(const Matrix& m, Size, Size) {
  return divided_up(m.in, 2) * m.out + divided_up(m.in, 32) * m.out;
}
Size mxfp6(const Matrix& m, Size, Size) {
  return divided_up(6 * m.in, 8) * m.out + divided_up(m.in, 32) * m.out;
}
/// An FP8 scale for 16 values of a row, and an fp32 scale a matrix.
Size nvfp4(const Matrix& m, Size, Size) {
  return divided_up(m.in, 2) * m.out + divided_up(m.in, 16) * m.out + 4;
}

enum class Singles { scale, fp32, with_zero_point };

template <Body body, Singles singles, Size scale, Size count>
Bytes packed(const Matrix& m, const Scheme& s) {
  constexpr Size single = singles == Singles::scale ? scale : singles == Singles::fp32 ? 4 : 4 + 1;
  return m.count * Bytes(body(m, s.group, scale) + count * single);
}

struct Base {
  std::string name;
  SchemeFamily family;
  std::string_view format;
  Size group, bits;
  Bytes (*packed[2][3])(const Matrix&, const Scheme&);  ///< by width of scales, and single ones
};

template <Body body, Singles singles = Singles::scale>
Base base(std::string name, SchemeFamily family, std::string_view format, Size bits,
          Size group = 0) {
  return {
      std::move(name),
      family,
      format,
      group,
      bits,
      {{packed<body, singles, 2, 0>, packed<body, singles, 2, 1>, packed<body, singles, 2, 2>},
       {packed<body, singles, 4, 0>, packed<body, singles, 4, 1>, packed<body, singles, 4, 2>}}};
}

std::vector<Base> bases() {
  using Family = SchemeFamily;
  std::vector<Base> all = {
      base<fp8>("fp8", Family::fp8, "fp8", 8),
      base<fp8_channel>("fp8-channel", Family::fp8, "fp8", 8),
      base<int8, Singles::with_zero_point>("int8", Family::compressed_tensors, "int8", 8),
      base<int8_channel, Singles::with_zero_point>("int8-channel", Family::compressed_tensors,
                                                   "int8", 8),
      base<int4_channel>("int4-channel", Family::compressed_tensors, "int4", 4),
      base<int4_fp8, Singles::fp32>("int4-fp8", Family::compressed_tensors, "int4", 4),
      base<mxfp4>("mxfp4", Family::fp4, "mxfp4", 4),
      base<mxfp6>("mxfp6", Family::fp4, "mxfp6", 6),
      base<nvfp4, Singles::fp32>("nvfp4", Family::fp4, "nvfp4", 4),
  };
  for (const Size group : {32, 64, 128})
    all.push_back(base<int4_groups>(fmt::format("int4-{}g", group), Family::compressed_tensors,
                                    "int4", 4, group));
  return all;
}

}  // namespace

std::string quark_name(std::string_view base, const QuarkScales& scales) {
  return fmt::format("quark-{}{}{}{}", base, scales.input ? "-static" : "",
                     scales.output ? "-kv" : "", scales.fp32 ? "-fp32" : "");
}

std::vector<Scheme> quark_rows() {
  static std::deque<std::string> names;
  std::vector<Scheme> rows;
  for (const Base& each : bases())
    for (const bool fp32 : {false, true})
      for (const bool input : {false, true})
        for (const bool output : {false, true}) {
          names.push_back(quark_name(each.name, {input, output, fp32}));
          rows.push_back({names.back(),
                          {},
                          each.family,
                          "as the checkpoint's config says, module by module",
                          "AMD Quark 0.13 export",
                          Reach::linears,
                          each.format,
                          each.packed[fp32 ? 1 : 0][(input ? 1 : 0) + (output ? 1 : 0)],
                          each.group,
                          each.bits});
        }
  return rows;
}

}  // namespace headroom::model
