#include "model/train/matrix_format.hpp"

#include <string>
#include <vector>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

constexpr MatrixFormat format_rows[] = {
    {"fp8", "E4M3 forward, E5M2 backward, one scale a tensor", Arithmetic::fp8, 8,
     "Transformer Engine DelayedScaling and Float8CurrentScaling, torchao Float8LinearConfig "
     "tensorwise"},
    {"fp8-block", "E4M3, one scale for 1 x 128 elements of an input, 128 x 128 of a weight",
     Arithmetic::fp8, 8 + 32.0 / 128,
     "DeepSeek-V3, arXiv:2412.19437, section 3.3; Transformer Engine Float8BlockScaling"},
    {"mxfp8", "E4M3, one 8-bit scale for 32 elements", Arithmetic::fp8, 8 + 8.0 / 32,
     "OCP Microscaling Formats 1.0; Transformer Engine MXFP8BlockScaling"},
    {"nvfp4", "E2M1, one 8-bit scale for 16 elements", Arithmetic::fp4, 4 + 8.0 / 16,
     "NVIDIA, arXiv:2509.25149; Transformer Engine NVFP4BlockScaling"},
};

}  // namespace

std::span<const MatrixFormat> matrix_formats() { return format_rows; }

bool multiplies(const Device& card, const MatrixFormat& format) {
  return format.arithmetic == Arithmetic::fp4 ? card.fp4.has_value() : card.fp8.has_value();
}

const MatrixFormat& matrix_format(std::string_view name) {
  std::vector<std::string> known;
  for (const MatrixFormat& row : format_rows) {
    if (row.name == lower(name)) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("format of matrices", name, known);
}

}  // namespace headroom::model
