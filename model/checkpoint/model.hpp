// A model for the rest of the program: its description, and the sums that formulas need.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.hpp"
#include "model/describe/config_keys.hpp"
#include "model/describe/images.hpp"
#include "model/describe/multi_token_prediction.hpp"
#include "model/describe/part.hpp"
#include "model/describe/profile.hpp"

namespace headroom::model {

/// Sizes in the header of an estimate. 0: the architecture has no such number.
struct ModelShape {
  Size hidden_size = 0, layers = 0, query_heads = 0, kv_heads = 0, head_dim = 0;
  Size vocabulary = 0, positions = 0, intermediate_size = 0;
  Size target_size = 0;  ///< width of the model that a head reads, if it is not the head's own; 0
};

struct Stored;

/// Formats of the tensors of a checkpoint.
struct CheckpointFormats {
  std::string scheme;         ///< name of a row of schemes()
  CheckpointDetails details;  ///< modules with another precision
};

struct Model {
  std::string name;    ///< "Qwen/Qwen3-0.6B"
  std::string source;  ///< origin of the metadata
  /// Engines find the weights there; empty: under `name`. A path, or a repository as it was typed:
  /// "org/name", "org/name:TAG".
  std::string repository;
  std::string architecture;  ///< "Qwen3ForCausalLM"
  std::string model_type;    ///< "qwen3"
  /// The language model's, where the config has a section for it ("qwen2" in InternVL); else empty.
  std::string text_type;
  std::string checkpoint_scheme;  ///< meaning of precision `auto`: "bf16", "mxfp4", "fp8", …
  CheckpointDetails checkpoint;   ///< modules with another precision
  /// A GGUF file of another scheme was made from this. Its converter leaves MXFP4 experts as they
  /// are. Empty: the checkpoint is no conversion.
  std::optional<CheckpointFormats> converted_from;
  /// "embedding" or "reranking" of a decoder that is published for that; else empty.
  std::string use;
  Size rope_factors = 0;  ///< elements of rotary scaling factors that GGUF files store
  /// the prompt goes to an encoder, and only the output to the decoder
  bool encoder_decoder = false;
  std::vector<std::string> assumed;  ///< defaults that the description used: "head_dim 64 (…)"
  /// config keys that are neither read nor known to the class
  std::vector<UnknownKey> unknown_keys;
  /// the class of the file, which is not described, where `architecture` was given in its place
  std::string described_as_another;
  MultiTokenPrediction multi_token_prediction;  ///< separate from `part`, and in no count
  bool text_only = false;      ///< its towers were left out (model/checkpoint/text_only.hpp)
  bool modules_alone = false;  ///< bitsandbytes leaves stacked experts (modules_alone.hpp)
  ModelShape shape;
  ImageRule images;  ///< how images become tokens
  VisionConfig vision;
  Part part;
  Profile profile;
  /// Content of the checkpoint's tensor headers (model/checkpoint/quantisation/stored.hpp). Null if
  /// they were not read.
  std::shared_ptr<const Stored> stored;
  /// Why only counts and bytes from headers exist. Empty if the model is described.
  std::string undescribed;

  /// True if answers are text: a decoder with a head, of no other use.
  bool writes() const { return profile.generative && use.empty(); }
};

/// True if the checkpoint's weights are quantised, in a described format or another.
bool is_quantised(const Model& model);

/// Why memory and speed may differ from the description. Keys that nothing reads, a description
/// borrowed from another class, a quantisation without its lists, or tensors that the config does
/// not describe. With a doubt no verdict is certain.
std::vector<std::string> doubts(const Model& model);
/// Those about the config alone: all but disagreement() (model/checkpoint/quantisation/stored.hpp).
std::vector<std::string> doubts_of_config(const Model& model);
/// True if there are any.
bool is_doubtful(const Model& model);

/// Throws ConfigError (file, key, what would have worked).
Model make_model(std::string name, const Config& config, std::string source);

}  // namespace headroom::model
