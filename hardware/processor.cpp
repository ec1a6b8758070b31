#include "hardware/processor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "hardware/catalogue.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

constexpr int max_sockets = 16;

FlopsPerSecond whole_gigaflops(FlopsPerSecond rate) {
  return FlopsPerSecond(std::round(rate.value() / 1e9) / 1e3 * 1e12);
}

/// The power of `host` with `fresh` in the place of its processors; why it is unknown, if it is.
std::string exchange_power(const Sockets& fresh, const Catalogue& catalogue, Host& host) {
  if (!(host.power_w > 0)) return host.power_unknown;
  const double others = std::exchange(host.power_w, 0);
  if (host.cpu.empty())
    return fmt::format("no row states what the processors of {} draw", host.name);
  const Sockets old = parse_sockets(host.cpu, catalogue);
  for (const Sockets* each : {&old, &fresh})
    if (!(each->processor.power_w > 0))
      return fmt::format("{}: {}", each->processor.name, each->processor.power_unknown);
  const double watts =
      others - old.count * old.processor.power_w + fresh.count * fresh.processor.power_w;
  if (!(watts > 0))
    return fmt::format("the processors of {} draw more than its power_w", host.name);
  host.power_w = watts;
  return {};
}

}  // namespace

std::string Sockets::name() const { return fmt::format("{}x {}", count, processor.name); }

FlopsPerSecond Sockets::peak() const { return whole_gigaflops(count * processor.peak); }

Sockets parse_sockets(std::string_view text, const Catalogue& catalogue) {
  text = trimmed(text);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view rest = text.substr(digits);
  // "5800X3D" has no count: no host has that many sockets.
  const bool counted =
      digits > 0 && digits <= 2 && rest.size() > 1 && (rest.front() == 'x' || rest.front() == 'X');
  if (!counted) return {1, catalogue.processor(text)};
  const Size count = whole_number(text.substr(0, digits)).value_or(0);
  if (count < 1 || count > max_sockets)
    throw std::invalid_argument(fmt::format("found {} sockets in '{}'; from 1 to {} are possible",
                                            count, text, max_sockets));
  return {static_cast<int>(count), catalogue.processor(trimmed(rest.substr(1)))};
}

void set_processors(const Sockets& sockets, Host& host) {
  host.cpu = sockets.name();
  host.cores = sockets.count * sockets.processor.cores;
  host.sockets = sockets.count;
  host.cpu_peak = sockets.peak();
  host.ram_bandwidth = sockets.count * sockets.processor.ram_bandwidth;
}

void exchange_processors(const Sockets& fresh, const Catalogue& catalogue, Host& host) {
  host.power_unknown = exchange_power(fresh, catalogue, host);
  set_processors(fresh, host);
}

}  // namespace headroom
