#include "model/answer/layer_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// "0-3, 5", at most a few runs.
std::string runs_of(const std::vector<Size>& layers) {
  constexpr int most = 3;
  std::string text;
  int runs = 0;
  for (std::size_t i = 0, end; i < layers.size(); i = end) {
    for (end = i + 1; end < layers.size() && layers[end] == layers[end - 1] + 1;) ++end;
    if (++runs > most) return text + ", …";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (end - i > 1) text += fmt::format("-{}", layers[end - 1]);
  }
  return text;
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

std::string group_words(const LayerGroup& group) {
  if (group.one.kind == LayerItem::Kind::head) return "output";
  if (group.one.kind == LayerItem::Kind::embedding) return "embedding";
  const Content content = group.one.piece.content;
  const std::string_view of = content == Content::dense     ? " without experts"
                              : content == Content::experts ? ", experts"
                                                            : "";
  return fmt::format("{} layer{}{}: {}", group.layers.size(), group.layers.size() == 1 ? "" : "s",
                     of, runs_of(group.layers));
}

}  // namespace headroom::model
