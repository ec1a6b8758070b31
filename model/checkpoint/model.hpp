// A model as the rest of the program knows it: its description and the sums that formulas need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.hpp"
#include "model/describe/config_keys.hpp"
#include "model/describe/images.hpp"
#include "model/describe/multi_token_prediction.hpp"
#include "model/describe/part.hpp"
#include "model/describe/profile.hpp"

namespace headroom::model {

/// What the header of an estimate echoes. 0: the architecture has no such number.
struct ModelShape {
  Size hidden_size = 0, layers = 0, query_heads = 0, kv_heads = 0, head_dim = 0;
  Size vocabulary = 0, positions = 0, intermediate_size = 0;
};

struct Stored;

struct Model {
  std::string name;               ///< "Qwen/Qwen3-0.6B"
  std::string source;             ///< where the metadata came from
  std::string architecture;       ///< "Qwen3ForCausalLM"
  std::string model_type;         ///< "qwen3"
  std::string checkpoint_scheme;  ///< what precision `auto` means: "bf16", "mxfp4", "fp8", …
  CheckpointDetails checkpoint;   ///< modules of the checkpoint that depart from it
  Size rope_factors = 0;          ///< elements of rotary scaling factors that GGUF files store
  bool encoder_decoder = false;   ///< the prompt goes to an encoder, only the output to the decoder
  std::vector<std::string> assumed;  ///< what a description left to defaults: "head_dim 64 (…)"
  std::vector<UnknownKey> unknown_keys;  ///< of the config: neither read nor known to its class
  MultiTokenPrediction multi_token_prediction;  ///< beside `part`; no count has it
  ModelShape shape;
  ImageRule images;  ///< how images become tokens
  Part part;
  Profile profile;
  /// What the headers of the checkpoint's tensors say (model/checkpoint/quantisation/stored.hpp);
  /// null: none was read.
  std::shared_ptr<const Stored> stored;
  /// Why there are counts and bytes from headers and nothing else; empty: the model is described.
  std::string undescribed;
};

/// Throws ConfigError (file, key, what would have worked).
Model make_model(std::string name, const Config& config, std::string source);

}  // namespace headroom::model
