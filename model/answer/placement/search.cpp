#include "model/answer/placement/search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/answer/placement/parts.hpp"

namespace headroom::model {
namespace {

/// The most candidates (numbers of units off the cards) that are examined, fewer if classes are
/// merged, since merged ones give only a bound. The last limit is for candidates that are solved
/// exactly.
constexpr Size most_candidates = Size{1} << 20, most_together = Size{1} << 18;
constexpr int most_worked_out = 2000;

/// All numbers of units off the cards, as digits of one number.
class Candidates {
 public:
  explicit Candidates(const UnitProblem& p) : p_(p) {}
  Size radix(std::size_t i) const {
    return p_.units[i].offloads && !p_.cards.empty() ? p_.units[i].count + 1 : 1;
  }
  /// At most one more than `most`.
  Size size(Size most = most_candidates) const {
    Size all = 1;
    for (std::size_t i = 0; i < p_.units.size() && all <= most; ++i) all *= radix(i);
    return std::min(all, most + 1);
  }
  Counts operator[](Size index) const {
    Counts off;
    for (std::size_t i = 0; i < p_.units.size(); ++i) {
      off.push_back(p_.cards.empty() ? p_.units[i].count : index % radix(i));
      index /= radix(i);
    }
    return off;
  }

  /// The next one after `off`.
  void advance(Counts& off) const {
    for (std::size_t i = 0; i < off.size(); ++i) {
      if (radix(i) == 1) continue;
      if (++off[i] < radix(i)) return;
      off[i] = 0;
    }
  }

 private:
  const UnitProblem& p_;
};

/// Every candidate there is, the lowest bound first.
UnitPlacement search_all(const UnitProblem& p, double reached) {
  UnitPlacement best;
  best.bound = best.step = reached;
  for (const UnitClass& u : p.units)
    if (p.cards.empty() && !u.offloads) return best;
  const Candidates candidates(p);
  const HostAndDisk host(p);
  const Cards cards(p);
  Cards::Left left;
  std::vector<std::pair<double, Size>> promising;
  Counts each = candidates[0];
  for (Size index = 0, size = candidates.size(); index < size; ++index, candidates.advance(each)) {
    const double waits = host.bound(each) + p.cpu_handoffs(each);
    const double copies = p.hiding_copies(each), rest = p.off_the_cards(each);
    if (p.step(waits, copies, rest) >= reached) continue;
    cards.leave(each, left);
    const double low = p.step(waits + cards.handoffs(left), copies, rest + cards.bound(left));
    if (low < reached) promising.emplace_back(low, index);
  }
  std::sort(promising.begin(), promising.end());
  int worked_out = 0;
  for (const auto& [low, index] : promising) {
    if (low >= best.step * (1 - 1e-12)) break;
    if (++worked_out > most_worked_out) {
      best.bound = std::min(best.bound, low);
      break;
    }
    const Counts off = candidates[index];
    const HostAndDisk::Result divided = host.divide(off);
    cards.leave(off, left);
    const double handoffs = p.cpu_handoffs(off) + cards.handoffs(left);
    const double offload_s = handoffs + (divided.exact ? divided.seconds : host.bound(off));
    const double copies = p.hiding_copies(off);
    const double rest = p.off_the_cards(off), least = cards.bound(left);
    if (p.step(offload_s, copies, rest + least) >= best.step * (1 - 1e-12)) continue;
    // So long cards may take behind launches or copies.
    const double busy = rest + (p.launches_hide ? 0 : p.launches);
    const double free = std::max(copies, p.launches_hide ? p.launches : 0) - busy;
    const Cards::Result packed = cards.pack(left, best.step - (offload_s - copies) - busy,
                                            std::max(least * (1 + 1e-12), free));
    if (!packed.exact || (!divided.exact && packed.on))
      best.bound = std::min(
          best.bound, p.step(offload_s, copies, rest + (packed.exact ? packed.seconds : least)));
    if (!packed.on || !divided.in_memory) continue;
    const double step = p.step(handoffs + divided.seconds, copies, rest + packed.seconds);
    if (step >= best.step) continue;
    best.step = step;
    best.on = *packed.on;
    best.on.push_back(*divided.in_memory);
    best.on.push_back(off);
    for (std::size_t i = 0; i < off.size(); ++i) best.on.back()[i] -= (*divided.in_memory)[i];
  }
  best.bound = std::min(best.bound, best.step);
  return best;
}

// ---- classes taken together --------------------------------------------------------------------

using Groups = std::vector<std::vector<std::size_t>>;

/// The class of a group: as `pick` of two values says, such as the smaller.
template <class Pick>
UnitClass together(const UnitProblem& p, const std::vector<std::size_t>& group, Pick&& pick) {
  UnitClass all = p.units[group.front()];
  all.count = 0;
  for (const std::size_t i : group) {
    const UnitClass& u = p.units[i];
    all.count += u.count;
    for (const auto field :
         {&UnitClass::on_card, &UnitClass::on_cpu, &UnitClass::on_disk, &UnitClass::cache})
      all.*field = pick(all.*field, u.*field);
    for (const auto field : {&UnitClass::cpu_s, &UnitClass::disk_s})
      all.*field = pick(all.*field, u.*field);
    const auto pick_seconds = [&](UnitSeconds& a, const UnitSeconds& b) {
      for (const auto field : {&UnitSeconds::read, &UnitSeconds::compute, &UnitSeconds::between})
        a.*field = pick(a.*field, b.*field);
    };
    for (std::size_t card = 0; card < all.on.size(); ++card) pick_seconds(all.on[card], u.on[card]);
    pick_seconds(all.off, u.off);
    pick_seconds(all.attention, u.attention);
    // Units that a pass meets differently count no handoffs.
    if (all.kind != u.kind) all.kind = UnitKind::end;
  }
  return all;
}
const auto smaller = [](auto a, auto b) { return std::min(a, b); };
const auto larger = [](auto a, auto b) { return std::max(a, b); };

template <class Pick>
UnitProblem with_groups(const UnitProblem& p, const Groups& groups, Pick&& pick) {
  UnitProblem changed = p;
  changed.units.clear();
  for (const auto& group : groups) changed.units.push_back(together(p, group, pick));
  return changed;
}

/// Loss of accuracy in size and time if a group is merged.
double loss(const UnitProblem& p, const std::vector<std::size_t>& group) {
  const UnitClass low = together(p, group, smaller), high = together(p, group, larger);
  const auto span = [](double a, double b) { return b > 0 ? (b - a) / b : 0; };
  const double size = span(static_cast<double>(low.on_card + low.cache),
                           static_cast<double>(high.on_card + high.cache));
  const auto reads = [](const UnitClass& u) {
    const UnitSeconds& first = u.on.empty() ? u.off : u.on.front();
    return std::pair(first.read + first.between, first.compute);
  };
  return (size + span(reads(low).first, reads(high).first) +
          span(reads(low).second, reads(high).second) + span(low.disk_s, high.disk_s)) *
         static_cast<double>(high.count);
}

/// As few classes as there have to be, those most alike together.
Groups grouped(const UnitProblem& p) {
  Groups groups;
  for (std::size_t i = 0; i < p.units.size(); ++i) groups.push_back({i});
  while (groups.size() > 1) {
    const UnitProblem now = with_groups(p, groups, larger);
    const bool together = groups.size() < p.units.size();
    if (Candidates(now).size() <= (together ? most_together : most_candidates)) return groups;
    std::size_t a = 0, b = 1;
    double least = endless;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = i + 1; j < groups.size(); ++j) {
        if (now.units[i].offloads != now.units[j].offloads) continue;
        auto both = groups[i];
        both.insert(both.end(), groups[j].begin(), groups[j].end());
        if (const double lost = loss(p, both); lost < least) {
          least = lost;
          a = i;
          b = j;
        }
      }
    if (!std::isfinite(least)) return groups;
    groups[a].insert(groups[a].end(), groups[b].begin(), groups[b].end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
  }
  return groups;
}

/// Units of groups as units of their classes, device by device.
std::vector<Counts> apart(const UnitProblem& p, const Groups& groups,
                          const std::vector<Counts>& on) {
  std::vector<Counts> devices(on.size(), Counts(p.units.size(), 0));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto member = groups[g].begin();
    Size left = p.units[*member].count;
    for (std::size_t device = 0; device < on.size(); ++device)
      for (Size n = on[device][g]; n > 0;) {
        while (left == 0) left = p.units[*++member].count;
        const Size some = std::min(n, left);
        devices[device][*member] += some;
        left -= some;
        n -= some;
      }
  }
  return devices;
}

}  // namespace

double UnitProblem::off_the_cards(const Counts& off) const {
  UnitSeconds rest, attention;
  for (std::size_t i = 0; i < off.size(); ++i) {
    rest = rest + static_cast<double>(off[i]) * units[i].off;
    attention = attention + static_cast<double>(off[i]) * units[i].attention;
  }
  return rest.total() + attention.total();
}

double UnitProblem::hiding_copies(const Counts& off) const {
  double seconds = 0;
  if (prefetches)
    for (std::size_t i = 0; i < off.size(); ++i)
      seconds += static_cast<double>(off[i]) * units[i].cpu_s;
  return seconds;
}

// A layer with its experts elsewhere goes on to another device within it. Going to the CPU m times
// means coming back at least m - 1 times. Layers on both make at least one handoff. The first
// device of a pass and the place of the head can add more.
double UnitProblem::cpu_handoffs(const Counts& off) const {
  if (cpu_handoff <= 0) return 0;
  Size layers_off = 0, layers_on = 0, divided = 0;
  for (std::size_t i = 0; i < off.size(); ++i) {
    const UnitClass& u = units[i];
    if (u.kind == UnitKind::end) continue;
    layers_off += off[i];
    layers_on += u.count - off[i];
    if (u.kind == UnitKind::dense) divided -= off[i];
    if (u.kind == UnitKind::experts) divided += off[i];
  }
  if (layers_off == 0 || layers_on == 0) return 0;
  divided = divided < 0 ? -divided : divided;
  return cpu_handoff * static_cast<double>(std::max<Size>(1, 2 * divided - 1));
}

UnitPlacement search(const UnitProblem& p, double reached) {
  const Groups groups = grouped(p);
  if (groups.size() == p.units.size()) return search_all(p, reached);
  UnitPlacement found = search_all(with_groups(p, groups, larger), reached);
  found.on = found.on.empty() ? found.on : apart(p, groups, found.on);
  found.bound = search_all(with_groups(p, groups, smaller), found.step).bound;
  return found;
}

}  // namespace headroom::model
