#include "model/answer/layer_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/describe/layer_numbers.hpp"

namespace headroom::model {
namespace {

bool near(auto a, auto b) {
  const double x = a.value(), y = b.value();
  return std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
}

bool alike(const LayerItem& a, const LayerItem& b) {
  return a.kind == b.kind && a.piece.content == b.piece.content &&
         near(a.work.weight_bytes, b.work.weight_bytes) &&
         near(a.work.expert_bytes, b.work.expert_bytes) &&
         near(a.work.cache_bytes, b.work.cache_bytes) && near(a.work.flops, b.work.flops) &&
         near(a.state, b.state) && near(a.moved, b.moved);
}

}  // namespace

std::vector<LayerGroup> groups_of(std::span<const LayerItem> items) {
  std::vector<LayerGroup> groups;
  for (const LayerItem& item : items) {
    auto at = std::ranges::find_if(groups,
                                   [&](const LayerGroup& group) { return alike(group.one, item); });
    if (at == groups.end()) at = groups.insert(at, {item, {}});
    at->layers.push_back(item.piece.layers.first);
  }
  return groups;
}

std::string group_words(const Profile& profile, const LayerGroup& group) {
  constexpr std::size_t most_runs = 3;
  if (group.one.kind == LayerItem::Kind::head) return "output";
  if (group.one.kind == LayerItem::Kind::embedding) return "embedding";
  const Content content = group.one.piece.content;
  const std::string_view of = content == Content::dense     ? " without experts"
                              : content == Content::experts ? ", experts"
                                                            : "";
  return fmt::format("{}{}: {}", counted(std::ssize(group.layers), "layer"), of,
                     layer_words(profile, group.layers, most_runs));
}

}  // namespace headroom::model
