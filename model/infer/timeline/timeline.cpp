#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

void Timeline::overlap_cards(Seconds taken) {
  Seconds& all = used_[static_cast<std::size_t>(Resource::cards)];
  const double share = taken / all;
  for (Segment& segment : segments) {
    if (segment.resource != Resource::cards) continue;
    const Seconds alone = segment.seconds;
    segment.seconds = alone * share;
    segment.hidden += alone - segment.seconds;
  }
  all = taken;
}

void Timeline::hide(Resource resource, Seconds hidden) {
  if (hidden <= Seconds()) return;
  const double share = hidden / of(resource);
  for (Segment& segment : segments) {
    if (segment.resource != resource) continue;
    const Seconds behind = share * segment.seconds;
    segment.hidden += behind;
    segment.seconds -= behind;
  }
}

void Timeline::append(const Timeline& next) {
  const auto before = static_cast<std::uint32_t>(items.size());
  for (Segment segment : next.segments) {
    segment.first_item += before;
    segment.last_item += before;
    segments.push_back(segment);
  }
  items.insert(items.end(), next.items.begin(), next.items.end());
  for (std::size_t i = 0; i < used_.size(); ++i) used_[i] += next.used_[i];
  total += next.total;
  least += next.least;
}

}  // namespace headroom::model
