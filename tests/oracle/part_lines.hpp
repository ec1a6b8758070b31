// A description as lines of text, in the order and the words of tests/oracle/make.py. It can be
// compared with transformers' model line by line or by checksum.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::oracle {

using Lines = std::vector<std::string>;

/// "name [shape] dtype" of each parameter that owns its storage.
Lines parameter_lines(const model::Part& part);
/// As above for buffers, with "persistent" or "non_persistent".
Lines buffer_lines(const model::Part& part);
/// "path Class" of each module.
Lines module_lines(const model::Part& part);
/// "a = b" for each set of names that share storage, sorted.
Lines tie_lines(const model::Part& part);
/// Classes that must not be split, sorted.
Lines no_split_lines(const model::Part& part);

/// Parameters, tied ones once.
Size total_of(const model::Part& part);
/// Parameters that one token touches.
Size active_of(const model::Part& part);

/// Content of the caches after a forward pass, as transformers keeps them. Latents count as such,
/// other keys and values for every query head if its code does so. Cross-attention is left out,
/// since the reference's pass has no source to attend to.
struct Kept {
  Size per_token = 0, per_sequence = 0;
  std::map<Size, Size> by_window{};  ///< window → elements per token, index keys left out
};
Kept kept_by(const model::Part& part);

}  // namespace headroom::oracle
