#include "sweep/run/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"
#include "report/format.hpp"

namespace headroom::sweep {
namespace {

using report::Fact;

/// Collects the facts of one owner.
class FactList {
 public:
  FactList(std::string part, std::string owner)
      : part_(std::move(part)), owner_(std::move(owner)) {}

  void text(std::string_view name, std::string value, std::string_view unit = {}) {
    if (!value.empty())
      facts_.push_back({part_, owner_, std::string(name), std::move(value), std::string(unit)});
  }
  /// A count or a size; 0: unknown.
  void count(std::string_view name, Size value, std::string_view unit = {}) {
    if (value > 0) text(name, report::shortest(value), unit);
  }
  /// `value` in units of `scale`; 0: unknown.
  void real(std::string_view name, double value, double scale, std::string_view unit) {
    if (value > 0) text(name, fmt::format("{:.6g}", value / scale), unit);
  }
  void memory(std::string_view name, Bytes value) {
    if (value > Bytes()) text(name, fmt::format("{:.2f}", value.real().value() / GiB), "GiB");
  }
  void rate(std::string_view name, BytesPerSecond value) { real(name, value.value(), GB, "GB/s"); }
  void peak(std::string_view name, std::optional<FlopsPerSecond> value) {
    if (value) real(name, value->value(), 1e12, "TFLOPS");
  }
  void add_to(std::vector<Fact>& all) {
    all.insert(all.end(), std::make_move_iterator(facts_.begin()),
               std::make_move_iterator(facts_.end()));
  }

 private:
  std::string part_, owner_;
  std::vector<Fact> facts_;
};

/// A constant with its interval, which a change may move alone.
std::string constant_text(const model::Constant& constant) {
  return fmt::format("{} ({:.3g}–{:.3g})", report::shortest(constant.value), constant.low,
                     constant.high);
}

FactList card_facts(const Device& card, std::string part) {
  FactList list(std::move(part), card.name);
  list.memory("memory", card.memory);
  list.text("unified memory", card.unified_memory ? "yes" : "no");
  list.rate("bandwidth", card.bandwidth);
  list.peak("fp32 peak", card.fp32);
  list.peak("tf32 peak", card.tf32);
  list.peak("fp16 peak", card.fp16);
  list.peak("bf16 peak", card.bf16);
  list.peak("fp8 peak", card.fp8);
  list.peak("int8 peak", card.int8);
  list.peak("fp4 peak", card.fp4);
  list.rate("link between cards", card.link);
  list.text("kind of link", card.link_kind);
  list.rate("host bus", card.host_bus);
  list.text("kind of host bus", card.host_bus_kind);
  if (!card.peer_access) list.text("peer access over the host bus", "no");
  list.real(card.power_includes_host ? "power with the host" : "power", card.power_w, 1, "W");
  list.text("compute capability", to_string(card.compute_capability));
  list.count("multiprocessors", card.multiprocessors);
  if (!card.tensor_cores) list.text("tensor cores", "emulated");
  list.text("architecture", card.architecture);
  return list;
}

FactList host_facts(const Host& host) {
  FactList list("host", host.name);
  list.memory("RAM", host.ram);
  list.rate("RAM bandwidth", host.ram_bandwidth);
  list.count("cores", host.cores);
  list.count("sockets", host.sockets);
  list.peak("CPU peak", host.cpu_peak);
  list.rate("bus to a card", host.host_bus);
  list.real("disk", host.disk.real().value(), GB, "GB");
  list.rate("disk read", host.disk_read);
  list.text("kind of disk", host.disk_kind);
  list.rate("link between cards", host.card_link);
  list.rate("network", host.network);
  list.count("cards in a box", host.cards);
  list.count("boxes", host.boxes);
  list.real("power", host.power_w, 1, "W");
  return list;
}

}  // namespace

std::vector<Fact> facts_of(const model::Model& model) {
  FactList list("", model.name);
  list.text("class", model.architecture);
  list.text("checkpoint", model.checkpoint_scheme);
  list.count("parameters", model.profile.parameters);
  list.count("active parameters", model.profile.parameters_active);
  list.count("layers", model.shape.layers);
  list.count("hidden size", model.shape.hidden_size);
  list.count("intermediate size", model.shape.intermediate_size);
  list.count("query heads", model.shape.query_heads);
  list.count("KV heads", model.shape.kv_heads);
  list.count("head dimension", model.shape.head_dim);
  list.count("vocabulary", model.shape.vocabulary);
  list.count("positions", model.shape.positions);
  std::vector<Fact> all;
  list.add_to(all);
  return all;
}

std::vector<Fact> facts_of(const Machine& machine) {
  std::vector<Fact> all;
  FactList own("", machine.name);
  own.count("number of cards", static_cast<Size>(machine.devices.size()));
  own.add_to(all);
  std::vector<const Device*> kinds;
  for (const Device& card : machine.devices) {
    const auto same = [&](const Device* known) { return *known == card; };
    if (std::ranges::any_of(kinds, same)) continue;
    kinds.push_back(&card);
    card_facts(card, kinds.size() == 1 ? "card" : fmt::format("card {}", kinds.size())).add_to(all);
  }
  host_facts(machine.host).add_to(all);
  return all;
}

std::vector<Fact> facts_of(const model::Engine& engine) {
  FactList list("", std::string(engine.name));
  list.text("version", std::string(engine.version));
  for (const model::EngineField& field : model::engine_fields())
    list.text(field.policy.empty() ? std::string(field.key)
                                   : fmt::format("{}.{}", field.policy, field.key),
              model::text_of(field, engine));
  for (const model::NamedConstant& each : model::named_constants()) {
    const std::string name = fmt::format("{}.{}", each.policy, each.name);
    if (each.of_engine) {
      list.text(name, constant_text(each.in(engine)));
      continue;
    }
    for (std::size_t cards = 0; cards < engine.kernels.efficiency.size(); ++cards)
      for (std::size_t width = 0; width < engine.kernels.efficiency[cards].size(); ++width)
        list.text(
            fmt::format("{} ({}, {})", name, model::name_of(static_cast<model::CardClass>(cards)),
                        model::name_of(static_cast<model::Width>(width))),
            constant_text(engine.kernels.efficiency[cards][width].*each.of_efficiency));
  }
  std::vector<Fact> all;
  list.add_to(all);
  return all;
}

}  // namespace headroom::sweep
