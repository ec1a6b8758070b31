#include "model/placement_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

namespace headroom::model {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Beyond these the search leaves placements out, the least promising first.
struct Limits {
  std::size_t states, fillings;
};
constexpr Limits quick{8, 8}, thorough{400, 150};

using Counts = std::vector<Size>;

/// What has been reached: units left, and how.
struct State {
  Counts left, taken;      ///< taken: by the device of this stage
  double cost = 0;         ///< so far
  std::size_t before = 0;  ///< in the stage before
};
using Stage = std::vector<State>;

std::string key(const Counts& counts) {
  std::string text(counts.size() * 2, '\0');
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text[2 * i] = static_cast<char>(counts[i] & 255);
    text[2 * i + 1] = static_cast<char>(counts[i] >> 8);
  }
  return text;
}

/// Cards are filled from the last to the first, whose room may also hold the caches of what is
/// offloaded; then host memory; what is left goes to disk.
class Search {
 public:
  Search(const UnitProblem& p, double share, Limits limits, double reached)
      : p_(p),
        share_(share),
        limits_(limits),
        reached_(reached),
        prices_(best_prices(p, share, reached)) {
    // Units are tried in the order of what a card's memory gains by them.
    for (std::size_t i = 0; i < p.units.size(); ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  }

  UnitPlacement run() {
    std::vector<Stage> stages{{State{}}};
    for (const UnitClass& u : p_.units) stages[0][0].left.push_back(u.count);
    for (std::size_t card = p_.cards.size(); card-- > 0;)
      stages.push_back(next(stages.back(), card));
    stages.push_back(next(stages.back(), p_.cards.size()));
    return best_of(stages);
  }

 private:
  /// Seconds a byte of card memory saves, about.
  double worth(std::size_t i) const {
    const UnitClass& u = p_.units[i];
    const double gain = u.cpu_s + share_ * p_.offloaded.seconds(u.bytes, u.flops);
    return gain / static_cast<double>(std::max<Size>(1, u.on_card + u.cache));
  }

  Size weight_on(const UnitClass& u, std::size_t device) const {
    return device == p_.cards.size() ? u.on_cpu : u.on_card;
  }

  /// Room of a device for weights, and for caches of what it takes unless they are counted already.
  Size room(const State& from, std::size_t device) const {
    Size caches = 0;
    for (std::size_t i = 0; i < p_.units.size(); ++i) caches += from.left[i] * p_.units[i].cache;
    const bool host = device == p_.cards.size();
    if (host ? !p_.caches_on_first : device == 0 && p_.caches_on_first)
      return (host ? p_.offloaded.room : p_.cards[0].room) - caches;
    return host ? p_.offloaded.room : p_.cards[device].room;
  }
  bool takes_caches(std::size_t device) const {
    return device < p_.cards.size() && !(device == 0 && p_.caches_on_first);
  }

  /// Host memory is never slower than the disk.
  bool all_fit(const State& from, Size left) const {
    for (std::size_t i = 0; i < p_.units.size(); ++i) left -= from.left[i] * p_.units[i].on_cpu;
    return left >= 0;
  }

  /// Every number of units that `device` has room for, the fullest first.
  template <class F>
  void fillings(const State& from, std::size_t device, F&& f) {
    Size left = room(from, device);
    if (left < 0) {
      // A device without room takes nothing; caches that must be on it fit nowhere.
      const bool caches_here = !takes_caches(device);
      const bool none_left =
          std::all_of(from.left.begin(), from.left.end(), [](Size n) { return n == 0; });
      if (!caches_here || none_left) f(Counts(p_.units.size(), 0));
      return;
    }
    Counts taken(p_.units.size(), 0);
    std::size_t tried = 0;
    if (device == p_.cards.size() && all_fit(from, left)) {
      f(from.left);
      return;
    }
    fill(from, device, 0, left, taken, tried, f);
  }
  template <class F>
  void fill(const State& from, std::size_t device, std::size_t depth, Size left, Counts& taken,
            std::size_t& tried, F&& f) {
    if (tried >= limits_.fillings) {
      exact_ = false;
      return;
    }
    if (depth == order_.size()) {
      ++tried;
      f(taken);
      return;
    }
    const std::size_t i = order_[depth];
    const UnitClass& u = p_.units[i];
    const Size each = weight_on(u, device) + (takes_caches(device) ? u.cache : 0);
    Size most = from.left[i];
    if (each > 0) most = std::min(most, left / each);
    if (device == p_.cards.size() && !u.offloads) most = 0;
    for (taken[i] = most; taken[i] >= 0; --taken[i])
      fill(from, device, depth + 1, left - taken[i] * each, taken, tried, f);
    taken[i] = 0;
  }

  double compute_seconds(const UnitDevice& device, const Counts& counts) const {
    double bytes = 0, flops = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      bytes += static_cast<double>(counts[i]) * p_.units[i].bytes;
      flops += static_cast<double>(counts[i]) * p_.units[i].flops;
    }
    return device.seconds(bytes, flops);
  }

  /// What a stage adds. Host memory's stage settles the disk as well: infinite where that is short.
  double added(const State& from, std::size_t device, const Counts& taken) const {
    if (device < p_.cards.size()) return share_ * compute_seconds(p_.cards[device], taken);
    double cost = share_ * compute_seconds(p_.offloaded, from.left);
    Size disk = 0;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const UnitClass& u = p_.units[i];
      const Size rest = from.left[i] - taken[i];
      if (from.left[i] > 0 && !u.offloads) return infinite;
      disk += rest * u.on_disk;
      cost += static_cast<double>(taken[i]) * u.cpu_s + static_cast<double>(rest) * u.disk_s;
    }
    return disk > p_.disk_room ? infinite : cost;
  }

  /// At the least what units left will cost on the devices after `device`.
  struct Rest {
    std::vector<double> each;
    double room = 0;
    double operator()(const Counts& left) const {
      double cost = -room;
      for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i] > 0) cost += static_cast<double>(left[i]) * each[i];
      return cost;
    }
  };
  Rest rest_after(std::size_t device) const {
    const std::size_t cards = p_.cards.size();
    Rest rest{std::vector<double>(p_.units.size(), infinite), 0};
    for (std::size_t d = 0; d < cards + 2; ++d) {
      if (d >= device && d < cards) continue;
      for (std::size_t i = 0; i < p_.units.size(); ++i)
        rest.each[i] = std::min(rest.each[i], priced(p_, prices_, share_, i, d));
      const Size room = d < cards    ? p_.cards[d].room
                        : d == cards ? p_.offloaded.room
                                     : p_.disk_room;
      rest.room += prices_.memory[d] * static_cast<double>(std::max<Size>(0, room));
    }
    return rest;
  }

  Stage next(const Stage& stage, std::size_t device) {
    const bool host = device == p_.cards.size();
    const Rest rest = rest_after(device);
    const double worst = reached_ * (1 - 1e-12);
    Stage reached;
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t s = 0; s < stage.size(); ++s) {
      const State& from = stage[s];
      fillings(from, device, [&](const Counts& taken) {
        const double cost = from.cost + added(from, device, taken);
        if (!std::isfinite(cost)) return;
        State state{from.left, taken, cost, s};
        for (std::size_t i = 0; i < taken.size(); ++i) state.left[i] -= taken[i];
        if (cost + (host ? 0 : rest(state.left)) > worst) return;
        const auto [at, fresh] = known.try_emplace(key(state.left), reached.size());
        if (fresh)
          reached.push_back(std::move(state));
        else if (cost < reached[at->second].cost)
          reached[at->second] = std::move(state);
      });
    }
    if (reached.size() <= limits_.states || host) return reached;
    exact_ = false;
    std::vector<std::pair<double, std::size_t>> promise;
    for (std::size_t s = 0; s < reached.size(); ++s)
      promise.emplace_back(reached[s].cost + rest(reached[s].left), s);
    const auto end = promise.begin() + static_cast<std::ptrdiff_t>(limits_.states);
    std::nth_element(promise.begin(), end, promise.end());
    Stage kept;
    for (auto it = promise.begin(); it != end; ++it) kept.push_back(std::move(reached[it->second]));
    return kept;
  }

  UnitPlacement best_of(const std::vector<Stage>& stages) const {
    UnitPlacement placement;
    placement.exact = exact_;
    placement.bound = prices_.value;
    const Stage& last = stages.back();
    if (last.empty()) return placement;
    const auto best = std::min_element(
        last.begin(), last.end(), [](const State& a, const State& b) { return a.cost < b.cost; });
    const std::size_t cards = p_.cards.size();
    placement.counts.resize(cards + 2);
    placement.counts[cards] = best->taken;
    placement.counts[cards + 1] = best->left;
    std::size_t before = best->before;
    const State* host = &*best;
    for (std::size_t card = 0; card < cards; ++card) {
      const State& state = stages[stages.size() - 2 - card][before];
      placement.counts[card] = state.taken;
      placement.compute_s += compute_seconds(p_.cards[card], state.taken);
      before = state.before;
    }
    Counts off = host->taken;
    for (std::size_t i = 0; i < off.size(); ++i) {
      off[i] += host->left[i];
      placement.offload_s += static_cast<double>(host->taken[i]) * p_.units[i].cpu_s +
                             static_cast<double>(host->left[i]) * p_.units[i].disk_s;
    }
    placement.compute_s += compute_seconds(p_.offloaded, off);
    return placement;
  }

  const UnitProblem& p_;
  double share_;
  Limits limits_;
  double reached_;  ///< of a placement that is known: only faster ones are looked for
  UnitPrices prices_;
  std::vector<std::size_t> order_;
  bool exact_ = true;
};

}  // namespace

UnitPlacement search(const UnitProblem& problem, double share) {
  UnitPlacement found = Search(problem, share, quick, infinite).run();
  const auto value = [&](const UnitPlacement& p) {
    return p.counts.empty() ? infinite : p.offload_s + share * p.compute_s;
  };
  const UnitPlacement better = Search(problem, share, thorough, value(found)).run();
  const double bound = std::max(found.bound, better.bound);
  const bool exact = better.exact;
  if (!better.counts.empty()) found = better;
  found.exact = exact;
  found.bound = exact ? value(found) : std::min(bound, value(found));
  return found;
}

}  // namespace headroom::model
