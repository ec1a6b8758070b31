// Formats of ExLlamaV2 and ExLlamaV3, by the bits of a weight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Rows for usual bits: "exl2-4bpw", "exl3-3.5bpw".
std::vector<Scheme> exl_schemes();

/// The row of "exl3-4.25bpw", of "exl3-4bpw-h8" with another number of bits in the head, or of
/// "exl2 4.125b"; null for other names, and for bits outside 1 to 8. `name` is in lower case. From
/// several threads.
const Scheme* exl_scheme(std::string_view name);

/// The name of the row for a checkpoint of `edition` 2 or 3, in bits of a weight.
std::string exl_name(int edition, double bits, double head_bits);

}  // namespace headroom::model
