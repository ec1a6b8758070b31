// The sums of a Part that any formula needs, in elements: no bytes, no precision. Computed once per model.
#pragma once

#include <string>
#include <vector>

#include "model/part.hpp"

namespace headroom::model {

/// Elements by the way they take part in a forward pass.
struct Sums {
  Size parameters = 0;         ///< tied ones once
  Size matmul = 0;             ///< elements of dense matrices that every token is multiplied by
  Size routed = 0;             ///< elements of expert matrices, all experts
  double routed_active = 0;    ///< of them, what one token is multiplied by: routed * used / of
  Size embedding = 0;          ///< looked up, not multiplied
  Size buffers = 0;
};

/// One repeated block of the decoder (or encoder) in the order of execution.
struct Layer {
  std::string path;
  Sums sums;
  Routing routing{0, 0};       ///< experts and how many a token uses; {0, 0} dense
  std::vector<Cache> caches;
  Size widest = 0;             ///< widest activation in elements per token (MLP intermediate, qkv)
};

struct Profile {
  Size parameters = 0;         ///< tied ones once
  Size parameters_untied = 0;  ///< tied ones each time
  Size parameters_active = 0;  ///< embeddings, routers and shared experts counted
  Size embedding_parameters = 0;
  Size vision_parameters = 0;  ///< vision and audio towers with their projectors
  Size buffers = 0;
  bool tied_head = false;
  std::vector<Layer> layers;   ///< blocks that hold the text decoder, then any others
  Sums outside;                ///< everything outside the blocks: embeddings, final norm, head
  Size head_elements = 0;      ///< the output projection, whether or not it owns its storage
};

Profile profile_of(const Part& part);

}  // namespace headroom::model
