// A decoder whose config.json nests its keys as a model of several models does.
#pragma once

#include "model/describe/config.hpp"

namespace headroom::model {

/// `file` with the keys of its text_config among its own, where `architectures` names a decoder,
/// text_config is of that decoder's model_type, and the top level states no sizes. transformers and
/// vLLM build the decoder from that section alone (get_text_config, hf_text_config). A key of the
/// section wins. Else `file` itself.
Config with_nested_decoder(const Config& file);

}  // namespace headroom::model
