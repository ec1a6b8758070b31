#include "model/placement/shards.hpp"

#include <algorithm>

namespace headroom::model {
namespace {

Bytes up(Bytes bytes, Size parts) { return Bytes((bytes.count() + parts - 1) / parts); }

}  // namespace

Bytes Shards::experts_of_rank(Bytes bytes, const Rank& rank) const {
  if (!rank.whole_experts || experts == 0) return up(bytes, rank.expert_cards);
  const Size more = rank.index < experts % rank.expert_cards ? 1 : 0;
  return (experts / rank.expert_cards + more) * up(bytes, experts);
}

Bytes Shards::of_rank(const Divided& whole, const Rank& rank) const {
  Bytes bytes = whole.everywhere + up(whole.split, rank.cards) +
                up(whole.heads, std::min(rank.cards, std::max<Size>(kv_heads, 1)));
  if (whole.experts > Bytes(0)) bytes += experts_of_rank(whole.experts, rank);
  if (whole.vocabulary > Bytes(0)) {
    const Size rows = padded_vocabulary(rank.vocabulary_multiple);
    bytes += (rows + rank.cards - 1) / rank.cards * up(whole.vocabulary, vocabulary);
  }
  return bytes;
}

}  // namespace headroom::model
