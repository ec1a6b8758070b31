#include "bench/fit/product_rates.hpp"

namespace headroom::sweep {
namespace {

constexpr ProductRate rates[] = {
    {"a100-sxm-80gb", 271.2}, {"a100-pcie-80gb", 252.9},  {"h100-sxm-80gb", 794.5},
    {"gh200-141gb", 828.6},   {"b200-sxm-180gb", 1745.0}, {"b300-sxm-288gb", 1769.0},
    {"gb200", 1822.0},        {"mi300x", 668.4},          {"mi325x", 784.9},
    {"mi355x", 1565.0},
};

}  // namespace

std::span<const ProductRate> product_rates() { return rates; }

}  // namespace headroom::sweep
