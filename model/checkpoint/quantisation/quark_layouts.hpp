// Layouts of AMD Quark's checkpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Single values that Quark stores beside a matrix and its scales.
struct QuarkScales {
  bool input = false;   ///< a constant scale of inputs
  bool output = false;  ///< a scale of outputs: keys and values are stored in 8 bit
  bool fp32 = false;    ///< scales in fp32, not in the model's 16 bit
};

/// The scheme's name: "quark-fp8-static-kv-fp32". `base`: "fp8", "fp8-channel", "mxfp4", "mxfp6",
/// "nvfp4", "int8", "int8-channel", "int4-channel", "int4-fp8", or "int4" with its group
/// ("int4-32g").
std::string quark_name(std::string_view base, const QuarkScales& scales);

/// A row for each base with each of these.
/// Source: tensors that AMD Quark 0.13 exported (tests/oracle/make_exports.py).
std::vector<Scheme> quark_rows();

}  // namespace headroom::model
