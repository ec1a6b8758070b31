#include "model/infer/memory/packed_pool.hpp"

#include <algorithm>
#include <vector>

namespace headroom::model {
namespace {

/// Layers of the same block, window and states, by page size.
struct Bucket {
  Size block_tokens, window, states;
  std::vector<PagedLayers> sizes;

  Size layers() const {
    Size sum = 0;
    for (const PagedLayers& each : sizes) sum += each.layers;
    return sum;
  }
  Size most() const { return std::ranges::max(sizes, {}, &PagedLayers::layers).layers; }
  bool balanced() const {
    return std::ranges::all_of(
        sizes, [&](const PagedLayers& each) { return each.layers == sizes.front().layers; });
  }
};

std::vector<Bucket> buckets_of(std::span<const PagedLayers> all) {
  std::vector<Bucket> buckets;
  for (const PagedLayers& each : all) {
    if (each.layers == 0) continue;
    auto bucket = std::ranges::find_if(buckets, [&](const Bucket& b) {
      return b.block_tokens == each.block_tokens && b.window == each.window &&
             b.states == each.states;
    });
    if (bucket == buckets.end())
      bucket = buckets.insert(bucket, {each.block_tokens, each.window, each.states, {}});
    const auto size = std::ranges::find(bucket->sizes, each.page_bytes, &PagedLayers::page_bytes);
    if (size == bucket->sizes.end())
      bucket->sizes.push_back(each);
    else
      size->layers += each.layers;
  }
  return buckets;
}

/// Layers of each page size in a group; 0: buckets stay whole.
Size layers_of_groups(const std::vector<Bucket>& buckets) {
  Size least = 0, most = 0;
  for (const Bucket& b : buckets) {
    if (!b.balanced()) continue;
    most = std::max(most, b.most());
    if (b.sizes.size() > 1) least = std::max(least, b.most());
  }
  if (least == 0) return 0;
  Size best = least, padding = -1;
  for (Size n = least; n <= most; ++n) {
    Size sum = 0;
    for (const Bucket& b : buckets)
      if (b.balanced()) sum += round_up(b.most(), n) - b.most();
    if (padding < 0 || sum <= padding) best = n, padding = sum;
  }
  return best;
}

/// Bytes of a block of the widest of so many groups.
Size block_of(const Bucket& b, Size groups) {
  Size bytes = 0;
  for (const PagedLayers& each : b.sizes)
    bytes += divided_up(each.layers, groups) * each.page_bytes;
  return bytes;
}

/// Groups of each bucket. `of_group`: layers_of_groups().
std::vector<Size> groups_of(const std::vector<Bucket>& buckets, Size of_group) {
  const auto holds_states = [&](const Bucket& b) {
    return b.states > 0 || (of_group == 0 && b.window > 0);
  };
  std::vector<Size> groups;
  Size block = 0;  // needed however states are split
  for (const Bucket& b : buckets) {
    groups.push_back(of_group > 0 && b.balanced() ? divided_up(b.most(), of_group) : 1);
    block = std::max(block, block_of(b, holds_states(b) ? b.layers() : groups.back()));
  }
  for (std::size_t i = 0; i < buckets.size(); ++i)
    if (const Bucket& b = buckets[i]; holds_states(b))
      groups[i] = std::max(
          groups[i], divided_up(b.layers(), std::max<Size>(1, block / b.sizes[0].page_bytes)));
  return groups;
}

Size blocks_of(const Bucket& b, Size tokens, Size sequences, Size in_flight) {
  if (b.states > 0) return sequences * b.states;
  const auto ceiled = [&](Size n) { return divided_up(n, b.block_tokens); };
  if (b.window == 0) return sequences * ceiled(tokens);
  const auto kept = [&](Size n) { return ceiled(std::min(b.window - 1 + n, tokens)) + 1; };
  return (sequences - 1) * kept(0) + kept(in_flight);
}

}  // namespace

PoolDemand packed_pool(std::span<const PagedLayers> all, Size tokens, Size sequences,
                       Size in_flight) {
  const std::vector<Bucket> buckets = buckets_of(all);
  const std::vector<Size> groups = groups_of(buckets, layers_of_groups(buckets));
  PoolDemand demand;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    demand.block_bytes = std::max(demand.block_bytes, block_of(buckets[i], groups[i]));
    demand.blocks += groups[i] * blocks_of(buckets[i], tokens, sequences, in_flight);
  }
  return demand;
}

}  // namespace headroom::model
