#include "model/infer/memory/packed_pool.hpp"

#include <algorithm>
#include <vector>

namespace headroom::model {
namespace {

/// Layers of the same block and window, by page size.
struct Bucket {
  Size block_tokens, window;
  std::vector<PagedLayers> sizes;

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
      return b.block_tokens == each.block_tokens && b.window == each.window;
    });
    if (bucket == buckets.end())
      bucket = buckets.insert(bucket, {each.block_tokens, each.window, {}});
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

Size blocks_of(const Bucket& b, Size tokens, Size sequences, Size in_flight) {
  const auto ceiled = [&](Size n) { return (n + b.block_tokens - 1) / b.block_tokens; };
  if (b.window == 0) return sequences * ceiled(tokens);
  const auto kept = [&](Size n) { return ceiled(std::min(b.window - 1 + n, tokens)) + 1; };
  return (sequences - 1) * kept(0) + kept(in_flight);
}

}  // namespace

PoolDemand packed_pool(std::span<const PagedLayers> all, Size tokens, Size sequences,
                       Size in_flight) {
  const std::vector<Bucket> buckets = buckets_of(all);
  const Size of_group = layers_of_groups(buckets);
  PoolDemand demand;
  for (const Bucket& b : buckets) {
    const bool split = of_group > 0 && b.balanced();
    const Size groups = split ? (b.most() + of_group - 1) / of_group : 1;
    Size bytes = 0;
    for (const PagedLayers& each : b.sizes)
      bytes += (each.layers + groups - 1) / groups * each.page_bytes;
    demand.block_bytes = std::max(demand.block_bytes, bytes);
    demand.blocks += groups * blocks_of(b, tokens, sequences, in_flight);
  }
  return demand;
}

}  // namespace headroom::model
