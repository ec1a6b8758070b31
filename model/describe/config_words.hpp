// The words by which a config names its rotary embedding, its norms and its activations.
#pragma once

#include "model/describe/config.hpp"

namespace headroom::model {

/// Throws ConfigError where any section of `config` names a rotary embedding or an activation that
/// is not known. The message gives the file, the key, the value and what would have worked.
void check_words(const Config& config);

/// The word under the first of `keys` that is present, or `fallback`. Throws ConfigError unless it
/// is one of `known`.
std::string word_of(const Config& config, Config::Keys keys, std::string_view fallback,
                    Config::Keys known);

}  // namespace headroom::model
