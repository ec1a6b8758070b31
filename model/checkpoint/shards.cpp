#include "model/checkpoint/shards.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hardware/units.hpp"

namespace headroom::model {
namespace {

Bytes up(Bytes bytes, Size parts) { return Bytes(divided_up(bytes.count(), parts)); }

/// Padded bytes per byte of MXFP4 experts if `parts` cards divide them.
double padded(Size inner, Size hidden, Size parts, const ExpertPadding& padding) {
  constexpr Size block = 32;
  const Size part = round_up(divided_up(inner, parts), block);
  return static_cast<double>(round_up(part, padding.inner_multiple) * parts) /
         static_cast<double>(inner) *
         static_cast<double>(round_up(hidden, padding.hidden_multiple)) /
         static_cast<double>(hidden) * (padding.scales_twice ? 18.0 / 17 : 1.0);
}

/// Parts of this width under `rank`.
double uneven(const DividedWidth& of, const Rank& rank, Size cards) {
  if (rank.part_multiple == 0 || of.width == 0) return 1;
  return largest_part(of.width, std::lcm(of.block, rank.part_multiple), cards);
}

}  // namespace

double largest_part(Size width, Size unit, Size cards) {
  Size most = 0, before = 0;
  for (Size card = 1; card <= cards; ++card) {
    const Size end = card == cards ? width : width * card / cards / unit * unit;
    most = std::max(most, end - before);
    before = end;
  }
  return static_cast<double>(most * cards) / static_cast<double>(width);
}

double Shards::uneven_experts(const Rank& rank) const {
  return rank.expert_groups == 1 ? uneven(expert_width, rank, rank.expert_cards) : 1;
}

RealBytes Shards::most_of_rank(const Divided& whole, const Rank& rank) const {
  const Bytes even = of_rank(whole, rank);
  if (rank.part_multiple == 0) return even.real();
  const Bytes shared = rank.shared_whole ? whole.shared : Bytes(0);
  const double more = uneven(feed_forward_width, rank, rank.dense()) - 1;
  const double heads = kv_heads > 0 ? largest_part(kv_heads, 1, rank.cards) - 1 : 0;
  return even.real() +
         (more / static_cast<double>(rank.dense())) * (whole.feed_forward - shared).real() +
         (heads / static_cast<double>(rank.cards)) * whole.attention.real();
}

Bytes Shards::experts_of_rank(Bytes bytes, const Rank& rank) const {
  if (mxfp4_inner > 0)
    bytes = Bytes(static_cast<Size>(std::ceil(
        bytes.real().value() *
        padded(mxfp4_inner, mxfp4_hidden, rank.expert_cards / rank.expert_groups, rank.padding))));
  if (rank.expert_groups == 1 || experts == 0) return up(bytes, rank.expert_cards);
  const Size together = rank.expert_cards / rank.expert_groups;
  const Size more = rank.index / together < experts % rank.expert_groups ? 1 : 0;
  return (experts / rank.expert_groups + more) * up(up(bytes, experts), together);
}

Bytes Shards::of_rank(const Divided& whole, const Rank& rank) const {
  const Bytes copied = rank.shared_whole ? whole.shared : Bytes(0);
  const Bytes split = rank.dense() == rank.cards
                          ? up(whole.split - copied, rank.cards)
                          : up(whole.split - whole.feed_forward, rank.cards) +
                                up(whole.feed_forward - copied, rank.dense());
  Bytes bytes = whole.everywhere + copied + split + up(whole.rows, rank.cards) +
                up(whole.heads, std::min(rank.cards, std::max<Size>(kv_heads, 1)));
  if (whole.experts > Bytes(0)) bytes += experts_of_rank(whole.experts, rank);
  if (whole.vocabulary > Bytes(0)) {
    const Size rows = padded_vocabulary(rank.vocabulary_multiple);
    bytes += divided_up(rows, rank.cards) * up(whole.vocabulary, vocabulary);
  }
  return bytes;
}

Bytes Shards::head_of_rank(const Rank& rank) const {
  Rank of = rank;
  of.cards = rank.dense();
  return of_rank(head, of);
}

}  // namespace headroom::model
