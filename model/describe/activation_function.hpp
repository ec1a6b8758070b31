// The module classes behind the activation names of a config ("hidden_act": "silu").
#pragma once

#include <string>
#include <string_view>

#include "model/describe/config.hpp"

namespace headroom::model {

/// The class of the activation that the first of `keys` names, or `fallback` where none is given:
/// "silu" is "SiLUActivation". Throws ConfigError with the nearest names for an unknown one.
/// Activations with parameters of their own (prelu, xielu) are not in the table: the families that
/// use them describe them. Source: transformers 5.23, activations.py, ACT2CLS.
std::string activation_class(const Config& c, Config::Keys keys, std::string_view fallback);

/// The class of the activation called `name`; empty for an unknown one.
std::string_view activation_class(std::string_view name);

/// All names of the table, for messages: "gelu, gelu_10, ...".
std::string activation_names();

}  // namespace headroom::model
