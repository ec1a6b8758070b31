// The parts of one pass's time. Totals, --explain, the breakdown by part and JSON all come from it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <vector>

#include "model/infer/timeline/roofline.hpp"

namespace headroom::model {

/// The resource that a segment occupies or waits for.
enum class Resource : std::uint8_t {
  cards,
  cpu,
  bus,  ///< the host's, to the first card
  disk,
  link,      ///< between cards
  handoffs,  ///< from one device to another
  launches,  ///< kernel launches, with the engine's work for each pass and sequence
  eager,     ///< kernels without CUDA graphs, beyond everything else
};
inline constexpr std::size_t resource_kinds = 8;

/// One layer of a segment, a part of one, or an end of the model.
struct LayerItem {
  enum class Kind : std::uint8_t { layer, head, embedding };
  Kind kind = Kind::layer;
  LayerSpan piece{};
  Work work{};        ///< on cards and CPU
  RealBytes state{};  ///< recurrent state in work.cache_bytes
  RealBytes moved{};  ///< over bus, disk or link
};

/// Work that shares a device and its roofline, or a wait.
struct Segment {
  Resource resource = Resource::cards;
  Size first_card = 0, last_card = 0;  ///< cards [first_card, last_card) do the same at once
  Work work{};                         ///< on cards, of each; on the CPU
  Work attention{};                    ///< on the CPU: in `work`, at a rate of its own
  Throughput rate{};                   ///< rate of cards and CPU
  Seconds seconds{};                   ///< in the pass's total: segments add up to it
  Seconds hidden{};                    ///< behind other segments, not in the total
  RealBytes moved{};                   ///< over bus, disk or link
  double kernels = 0;                  ///< launched
  std::uint32_t first_item = 0, last_item = 0;  ///< in Timeline::items
};

/// A timeline keeps its segments, their layers too, or sums alone.
enum class TimelineDetail : std::uint8_t { segments, layers, totals };

class Timeline {
 public:
  explicit Timeline(TimelineDetail detail = TimelineDetail::segments) : detail_(detail) {}

  bool keeps_layers() const { return detail_ == TimelineDetail::layers; }
  /// Adds so many seconds on a resource. `segment()` is what else is known of them; it is asked for
  /// where segments are kept. `items(out)` appends its layers to `out`, where layers are kept.
  template <class S, class F>
  void add(Resource resource, Seconds seconds, S&& segment, F&& items);
  template <class S>
  void add(Resource resource, Seconds seconds, S&& segment) {
    add(resource, seconds, segment, [](std::vector<LayerItem>&) {});
  }

  /// Seconds that a resource is used for, hidden ones included; of Resource::eager what is counted.
  Seconds of(Resource resource) const { return used_[static_cast<std::size_t>(resource)]; }
  /// The cards work at once, so that together they take `taken`.
  void overlap_cards(Seconds taken);
  /// Marks `hidden` seconds on `resource` as overlapped by other segments.
  void hide(Resource resource, Seconds hidden);
  /// Another pass after this one.
  void append(const Timeline& next);

  boost::container::small_vector<Segment, 12> segments;
  std::vector<LayerItem> items;
  Seconds total;
  Seconds least;  ///< on the cards, at the full rates of their data sheets

 private:
  TimelineDetail detail_;
  std::array<Seconds, resource_kinds> used_{};
};

template <class S, class F>
void Timeline::add(Resource resource, Seconds seconds, S&& segment, F&& add_items) {
  used_[static_cast<std::size_t>(resource)] += seconds;
  if (detail_ == TimelineDetail::totals) return;
  Segment& added = segments.emplace_back(segment());
  added.resource = resource;
  added.seconds = seconds;
  if (!keeps_layers()) return;
  added.first_item = static_cast<std::uint32_t>(items.size());
  add_items(items);
  added.last_item = static_cast<std::uint32_t>(items.size());
}

}  // namespace headroom::model
