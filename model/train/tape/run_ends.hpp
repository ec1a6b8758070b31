// The operations outside the layers of an encoder and of a vision tower.
#pragma once

#include "model/train/tape/tape.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {

/// Norms and matrices outside an encoder's layers, the head apart: of embeddings, and what masked
/// tokens are transformed by. A pooler sees one token and is left out.
void around_encoder(Tape& tape, const Part& part);

/// Outside a vision tower's layers: norms of its patches, and the matrices that make tokens of
/// them. Pixels are left out, as token numbers are: they are the batch, not what autograd keeps.
Tape::Sums around_tower(const Model& model, const TapeMode& mode, const VisionTower& tower);

}  // namespace headroom::model
