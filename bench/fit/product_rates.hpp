// What cards reach in the largest products of matrices, published by others: evidence of how cards
// differ where few or no steps were measured.
#pragma once

#include <span>
#include <string_view>

namespace headroom::sweep {

struct ProductRate {
  std::string_view card;  ///< of the catalogue
  double tflops;          ///< of bf16 products, the best shape's mean of 100
};
/// Source: stas00/ml-engineering, compute/accelerator/README.md, "Maximum Achievable Matmul FLOPS",
/// read 2026-11-22.
std::span<const ProductRate> product_rates();

}  // namespace headroom::sweep
