// Parts that DFlash and its relatives share.
#pragma once

#include <string>
#include <vector>

#include "model/describe/architectures/draft_heads.hpp"

namespace headroom::model::families::dflash {

/// Flat checkpoints leave embeddings and head to the target model.
inline constexpr OwnVocabulary none{.embedding = false, .head = false};

/// Layers, the projection of hidden states, and norms after both.
Part frame(const Config& c, const DraftHead& d);
/// DFlash 2's convolutions of each of the `layers`; `own` has their sizes.
Part convolutions(const Config& own, const DraftHead& d, const std::vector<std::string>& layers);

}  // namespace headroom::model::families::dflash
