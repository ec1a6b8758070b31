// Checkpoints whose method of quantisation is known by its name alone: parameters are counted as
// always, bytes are refused.
#pragma once

#include <string>
#include <string_view>

namespace headroom::model {

/// What Model::checkpoint_scheme says then: "hqq (not described)".
std::string undescribed_scheme(std::string_view method);
/// Whether `scheme` is such a word. scheme(name) throws NotDescribed for it, with what would work.
bool is_undescribed(std::string_view scheme);
/// Names of the methods that are described, for messages: "auto-round, awq, …".
std::string known_methods();
/// Why there are no bytes: names the method and what would tell them.
std::string why_undescribed(std::string_view scheme);

}  // namespace headroom::model
