#include "model/speed/speeds.hpp"

#include <algorithm>

namespace headroom::model {

Speeds::Speeds(const Scenario& s, Size count) : cpu(cpu_rate(s)) {
  const std::vector<Device>& devices = s.machine->devices;
  const std::size_t most = std::min(devices.size(), static_cast<std::size_t>(count));
  cards.reserve(most);
  for (std::size_t i = 0; i < most; ++i) {
    const Rates& rates = rates_on(s, devices[i]);
    cards.push_back({card_rate(s, devices[i]), devices[i].bandwidth.value(),
                     product_peak(s, devices[i]),
                     product_share(s, devices[i], rates).measurements > 0,
                     rates.decode_bandwidth.measurements > 0});
  }
}

}  // namespace headroom::model
