// Memory that PyTorch's caching allocator takes for loaded weights.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/shards.hpp"

namespace headroom::model {

/// Bytes that the allocator uses for a tensor of `bytes` among others of its size:
///
///   up to 1 MiB     rounded up to 512 bytes
///   below 10 MiB    n = floor(20 MiB / bytes) share a segment of 20 MiB; a rest of more than
///                   1 MiB is split off, else it stays with the last of them
///   from 10 MiB on  a segment rounded up to 2 MiB, with the same rule for its rest
///
/// Source: PyTorch 2.6 c10/cuda/CUDACachingAllocator.cpp, get_allocation_size and should_split.
/// Does not apply to expandable segments. Left out: tensors that fill the rests.
double allocated(Size bytes);

/// Allocator overhead of each layer's weights for several numbers of tensor-parallel cards, as
/// prefix sums: [0] = 0, [n] = the first n layers.
struct BlockRests {
  static constexpr std::array<Size, 6> cards{1, 2, 4, 8, 16, 32};
  struct Sums {
    std::vector<double> before;
    double embedding = 0, head = 0;  ///< outside the layers, as in QuantisedModel
  };
  Sums per_tensor;  ///< each checkpoint tensor allocated separately, one card
  std::array<Sums, cards.size()> fused{};  ///< q, k and v fused, gate and up, a layer's experts

  /// The entry for the largest `cards` that is at most `shards`.
  const Sums& fused_on(Size shards) const;
};

/// Adds up the overhead tensor by tensor. Layers may come in any order.
class BlockRestCounter {
 public:
  /// `kv_heads`: as in Shards.
  BlockRestCounter(std::size_t layers, Size kv_heads);
  struct TensorBytes {
    std::string_view name;    ///< the tensor's name
    Size elements_bytes = 0;  ///< without scales and zero points
    Size overhead_bytes = 0;  ///< scales and zero points, stored as their own tensor
    Size pieces = 1;          ///< number of checkpoint tensors: there, experts are separate
    Divided divided;
  };
  /// `block` is an index of blocks_of.
  void add(const TensorBytes& tensor, Size block);
  BlockRests rests();

 private:
  struct Fused {
    std::string name;  ///< identifies an allocated tensor
    std::array<double, BlockRests::cards.size()> elements{}, overhead{};
  };
  using Place = std::vector<Fused>;
  double part(const Divided& divided, Size cards) const;
  std::size_t slot(Size block) const;

  Size kv_heads_;
  std::vector<Place> fused_;        ///< by layer, then the embedding and the head
  std::vector<double> per_tensor_;  ///< same order
};

}  // namespace headroom::model
