// Published rates of cards in large matrix products. They show how cards differ if few or no steps
// were measured.
#pragma once

#include <span>
#include <string_view>

namespace headroom::sweep {

struct ProductRate {
  std::string_view card;  ///< name in the catalogue
  double tflops;          ///< rate of bf16 products, the best shape's mean of 100
};
/// Source: stas00/ml-engineering, compute/accelerator/README.md, "Maximum Achievable Matmul FLOPS",
/// read 2026-11-22.
std::span<const ProductRate> product_rates();

}  // namespace headroom::sweep
