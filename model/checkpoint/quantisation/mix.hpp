// llama.cpp's mixes: the format of each tensor of a "Q4_K_M" file, as a table of rules.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "hardware/precision.hpp"
#include "hardware/units.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {

/// Facts about the model and the tensor that the rules use.
struct MixQuestion {
  TensorClass tensor_class = TensorClass::other;
  Size index = 0;                 ///< the layer, or the number of earlier tensors of its class
  Size of = 0;                    ///< number of layers, or of tensors of the class
  Size row = 0;                   ///< elements of a row
  Size gqa = 1;                   ///< query heads per key-value head
  Size experts = 0;               ///< 0: dense
  bool stacked_experts = false;   ///< the tensor holds all experts of its layer
  bool shared_expert = false;     ///< the tensor is of the expert that every token passes
  bool falcon = false;            ///< llama.cpp's falcon architecture has its own rules
  bool seventy_b = false;         ///< llama.cpp's model type "70B"
  bool large_vocabulary = false;  ///< types "8B" and "70B" with at least 127,999 tokens
  bool tied = false;              ///< without an output tensor the token embedding follows its rule
  bool importance = false;        ///< made with an importance matrix
};

/// The rules of one mix ("q4_K_M").
///
/// Source: llama.cpp 007dbbf3 src/llama-quant.cpp; fused attention_qkv as in the files of 2023 to
/// 2025 (koboldcpp 2da346a5 src/llama.cpp), before that class was merged with attention_v.
class Mix {
 public:
  explicit Mix(std::string_view name);
  /// Format of a quantised tensor, after the fallback for rows that are no multiple of the block.
  const Precision& format(const MixQuestion& question) const;

  /// Conditions of the table.
  enum class When {
    always,
    eight_experts,
    four_experts,  ///< or more
    many_experts,  ///< eight or more
    shared_expert,
    first_of_many_experts,     ///< the first layer of a model with eight experts or more
    paired_heads,              ///< at least two query heads share a key-value head
    paired_heads_or_experts,   ///< or at least two experts
    grouped_heads,             ///< at least four query heads share a key-value head
    grouped_heads_or_experts,  ///< or at least four experts
    first_two,
    first_four,
    first_sixteenth,
    first_eighth,
    middle,  ///< neither the first eighth nor the last
    more,    ///< first and last eighth, and every third layer between
    eight_experts_more,
    falcon,
    falcon_first_sixteenth,
    falcon_more,
    falcon_not_more,
    seventy_b,
    large_vocabulary,
    plain,                    ///< without an importance matrix
    first_eighth_plain,       ///< without an importance matrix
    first_eighth_importance,  ///< with one
  };

  /// A row of the tables. The first that holds wins.
  struct Rule {
    std::initializer_list<std::string_view> mixes;  ///< empty: all
    TensorClass tensor_class;
    When when;
    std::string_view format;  ///< empty: the mix's default
  };

 private:
  struct OwnRule {
    TensorClass tensor_class;
    When when;
    const Precision* format;
  };
  const Precision& wanted(const MixQuestion& question) const;
  const Precision& output_format(const MixQuestion& question) const;
  void take_rules(std::span<const Rule> rules, std::string_view name);

  std::vector<OwnRule> rules_;    ///< the first that holds wins
  const Precision* usual_;        ///< the format of most tensors
  const Precision* output_;       ///< the output's, where rows are whole blocks
  const Precision* tied_output_;  ///< the output's, if it is the token embedding
  const Precision* q8_0_;
  const Precision* tables_ = nullptr;   ///< the embedding's and the output's, if named
  const Precision* experts_ = nullptr;  ///< the experts' of a mix that packs only them
  const Precision* lifted_ = nullptr;   ///< some values' in models of 70 billion
  bool of_ik_ = false;                  ///< ik_llama.cpp makes it, and has fallbacks of its own
};

/// The name of Mix(mix).format(question), a row of precisions().
std::string_view mixed_format(std::string_view mix, const MixQuestion& question);

}  // namespace headroom::model
