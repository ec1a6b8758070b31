// Facts about classes of transformers 5.23 that their tensors do not show: how a norm computes, how
// rotations are put in, which attention has no fused kernel. Read from the modeling files; a family
// that is not listed does what most do.
#pragma once

#include <string_view>

#include "model/describe/layer_spec.hpp"

namespace headroom::model::layers {

/// "Gemma2" of "Gemma2DecoderLayer".
std::string_view family_of(std::string_view block_class);

NormKind norm_kind(std::string_view class_name);
ActivationKind activation_kind(std::string_view class_name);
RouterKind router_kind(std::string_view class_name);

/// What one family's attention does otherwise than most.
struct AttentionRow {
  std::string_view family;
  Rotation rotation = Rotation::added;
  bool fp32_tables = false;
  bool softmax_fp32 = true;
  bool scores_only = false;  ///< no fused kernel
  bool own_tables = false, norms_rotated = false, tables_by_token = false;
};
AttentionRow attention_row(std::string_view family);

/// Whether a row says how the family rotates.
bool is_listed(std::string_view family);

/// Whether it is known what a layer does with a module (or tensor) of that name. `mixes`: it has a
/// recurrent mixer, whose names mean nothing elsewhere.
bool is_understood(std::string_view name, bool mixes);

/// Families whose norms follow the addition of the residual.
bool has_post_norms(std::string_view family);

}  // namespace headroom::model::layers
