// What PyTorch's caching allocator takes for tensors that stay: weights, once they are loaded.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/shards.hpp"

namespace headroom::model {

/// Bytes that the allocator counts for a tensor of `bytes` among others of its size:
///
///   up to 1 MiB     rounded up to 512 bytes
///   below 10 MiB    n = floor(20 MiB / bytes) share a segment of 20 MiB; what is left of it is
///                   split off where it is more than 1 MiB, else stays with the last of them
///   from 10 MiB on  a segment rounded up to 2 MiB, what is left of it likewise
///
/// Source: PyTorch 2.6 c10/cuda/CUDACachingAllocator.cpp, get_allocation_size and should_split; not
/// where expandable segments are asked for. Left out: tensors that fill what others left.
double allocated(Size bytes);

/// Bytes beside the weights of each layer, for so many cards that divide matrices, as prefix sums:
/// [0] = 0, [n] = the first n layers.
struct BlockRests {
  static constexpr std::array<Size, 6> cards{1, 2, 4, 8, 16, 32};
  struct Sums {
    std::vector<double> before;
    double embedding = 0, head = 0;  ///< outside the layers, as in Weights
  };
  Sums apart;                              ///< each tensor of the checkpoint by itself, one card
  std::array<Sums, cards.size()> fused{};  ///< q, k and v, gate and up, a layer's experts together

  /// Of the most `cards` that are not more than `shards`.
  const Sums& fused_on(Size shards) const;
};

/// Adds up the rests, tensor by tensor; blocks come in any order.
class BlockRestCounter {
 public:
  /// `kv_heads`: as in Shards.
  BlockRestCounter(std::size_t layers, Size kv_heads);
  struct Held {
    std::string_view name;    ///< of the tensor
    Size elements_bytes = 0;  ///< without what lies beside the elements
    Size overhead_bytes = 0;  ///< scales and zero points, a tensor of their own
    Size pieces = 1;          ///< tensors of the checkpoint: experts are one by one there
    Divided divided;
  };
  /// `block`: of blocks_of.
  void add(const Held& held, Size block);
  BlockRests rests();

 private:
  struct Fused {
    std::string name;  ///< what is one tensor
    std::array<double, BlockRests::cards.size()> elements{}, beside{};
  };
  using Place = std::vector<Fused>;
  double part(const Divided& divided, Size cards) const;
  std::size_t slot(Size block) const;

  Size kv_heads_;
  std::vector<Place> fused_;   ///< by layer, then the embedding and the head
  std::vector<double> apart_;  ///< likewise
};

}  // namespace headroom::model
