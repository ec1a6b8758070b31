// FNV-1a (Fowler, Noll, Vo; 64 bit) over every field of what a result depends on. The fields of a
// struct are listed by the compiler, so that none can be forgotten.
#include "sweep/fingerprint.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <boost/pfr.hpp>
#include <optional>
#include <span>
#include <type_traits>

#include "model/checkpoint/quantisation/stored.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/source_hash.hpp"

namespace headroom::sweep {
namespace {

class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0xff);  // "a" + "b" is not "ab"
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      byte(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> shift));
  }
  void add(double value) { add(std::bit_cast<std::int64_t>(value)); }
  void add(Bytes value) { add(value.count()); }
  template <class Dimension>
  void add(headroom::Quantity<Dimension> value) {
    add(value.value());
  }
  void add(std::monostate) { add(std::string_view("none")); }
  void add(const report::AxisValue& value) {
    std::visit([&](const auto& held) { add(held); }, value);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(static_cast<std::int64_t>(value.has_value()));
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(std::span<const T>(values));
  }
  template <class T, std::size_t count>
  void add(const std::array<T, count>& values) {
    add(std::span<const T>(values));
  }
  template <class T>
  void add(std::span<const T> values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const T& value : values) add(value);
  }
  template <class T>
  void add(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
      add(static_cast<std::int64_t>(value));
    else
      boost::pfr::for_each_field(value, [&](const auto& field) { add(field); });
  }

  std::int64_t value() const { return std::bit_cast<std::int64_t>(state_); }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void byte(unsigned char value) { state_ = (state_ ^ value) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::int64_t fingerprint(const model::Model& model) {
  Hash hash;
  hash.add(model.name);
  hash.add(model.architecture);
  hash.add(model.checkpoint_scheme);
  hash.add(model.checkpoint);
  hash.add(model.rope_factors);
  hash.add(model.encoder_decoder);
  hash.add(model.multi_token_prediction);
  hash.add(model.shape);
  hash.add(model.part);
  hash.add(model.undescribed);
  if (!model.stored) return hash.value();
  hash.add(model.stored->detail);
  hash.add(model.stored->keeps_checkpoint_formats);
  hash.add(model.stored->comparison);
  hash.add(model.stored->totals.parameters);
  hash.add(model.stored->totals.bytes);
  return hash.value();
}

std::int64_t fingerprint(const Machine& machine) {
  Hash hash;
  for (Device device : machine.devices) {
    device.title.clear();
    device.aliases.clear();
    device.source.clear();
    device.date.clear();
    device.launched.clear();
    device.list_price_usd.reset();
    device.conflicts.clear();
    hash.add(device);
  }
  Host host = machine.host;
  host.title.clear();
  host.aliases.clear();
  host.source.clear();
  host.date.clear();
  hash.add(host);
  return hash.value();
}

std::int64_t fingerprint(const model::Engine& runtime) {
  Hash hash;
  hash.add(runtime.name);
  hash.add(runtime.version);
  for (const model::EngineField& field : model::engine_fields())
    hash.add(model::text_of(field, runtime));
  for (const model::NamedConstant& each : model::named_constants()) {
    if (each.of_engine) {
      hash.add(each.in(runtime));
      continue;
    }
    for (const auto& by_width : runtime.kernels.efficiency)
      for (const model::KernelEfficiency& rates : by_width) hash.add(rates.*each.of_efficiency);
  }
  return hash.value();
}

std::string program_version() {
  return fmt::format("{}+{}", HEADROOM_VERSION, std::string_view(source_hash).substr(0, 16));
}

std::string fingerprint(const report::RunInfo& info) {
  Hash hash;
  hash.add(info.version);
  hash.add(info.spec);
  for (const auto& grid : info.grids) {
    hash.add(grid.excluded);
    for (const auto& digit : grid.digits)
      for (const auto& axis : digit) {
        hash.add(axis.column);
        hash.add(axis.values);
        hash.add(axis.fingerprints);
      }
  }
  return hash.text();
}

}  // namespace headroom::sweep
