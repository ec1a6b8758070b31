#include "sweep/plan/gpus_needed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/answer/advice.hpp"
#include "model/answer/placement/strategy.hpp"

namespace headroom::sweep {

std::vector<GpusNeeded> gpus_needed(const model::Scenario& scenario, const Catalogue& catalogue) {
  std::vector<GpusNeeded> all;
  const Bytes least = model::min_card(scenario);
  if (least == Bytes(0)) return all;
  model::Scenario s = scenario;
  s.gpu_budget = model::unlimited;
  s.gpu_share = 0;
  for (const Device& device : catalogue.devices) {
    GpusNeeded needed{&device, least.real() / usable_memory(device).real(), 0};
    Machine machine;
    machine.name = device.name;
    machine.host = catalogue.host(catalogue.default_host);
    machine.host.cards = 0;
    s.machine = &machine;
    while (machine.devices.size() < 64 && needed.whole == 0) {
      machine.devices.push_back(device);
      const model::Estimate e = evaluate(s);
      if (is_on_gpus(e) && e.queued == 0) needed.whole = std::ssize(machine.devices);
    }
    all.push_back(needed);
  }
  return all;
}

std::string gpus_needed_line(const std::vector<GpusNeeded>& all) {
  constexpr std::string_view known[] = {"rtx-4090", "a100-sxm-40gb", "a100-sxm-80gb",
                                        "h100-sxm-80gb", "h200-sxm-141gb"};
  std::vector<std::string> parts;
  for (const auto name : known)
    for (const GpusNeeded& each : all)
      if (each.device->name == name)
        parts.push_back(fmt::format(
            "{:.2f} of {} ({})", each.share, name,
            each.whole > 0 ? std::to_string(each.whole) : std::string("64 do not hold it")));
  return parts.empty()
             ? std::string()
             : fmt::format("GPUs needed, whole ones in brackets: {}", fmt::join(parts, ", "));
}

boost::json::array gpus_needed_array(const std::vector<GpusNeeded>& all) {
  boost::json::array rows;
  for (const GpusNeeded& each : all) {
    boost::json::object row{{"device", each.device->name}, {"share", each.share}};
    row["whole"] = each.whole > 0 ? boost::json::value(each.whole) : boost::json::value();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headroom::sweep
