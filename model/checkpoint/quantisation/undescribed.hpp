// Checkpoints whose quantisation method is known by name only. Parameters are counted, but bytes
// are refused.
#pragma once

#include <string>
#include <string_view>

namespace headroom::model {

/// Value of Model::checkpoint_scheme in that case: "hqq (not described)".
std::string undescribed_scheme(std::string_view method);
/// True for such a name. scheme(name) throws NotDescribed for it, with what would work.
bool is_undescribed(std::string_view scheme);
/// Names of the described methods for messages: "auto-round, awq, …".
std::string known_methods();
/// Why there are no bytes. Names the method and what would provide them.
std::string why_undescribed(std::string_view scheme);

}  // namespace headroom::model
