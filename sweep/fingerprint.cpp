// FNV-1a (Fowler, Noll, Vo; 64 bit) over everything that a result depends on.
#include "sweep/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "model/stored.hpp"
#include "report/columns.hpp"

namespace headroom::sweep {
namespace {

class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    state_ = (state_ ^ 0xffU) * 0x100000001b3ULL;  // "a" + "b" is not "ab"
  }
  void add(std::int64_t value) { add(std::string_view(reinterpret_cast<char*>(&value), 8)); }
  void add(double value) { add(std::string_view(reinterpret_cast<char*>(&value), 8)); }
  void add(const report::AxisValue& value) {
    std::visit(
        [&](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
            add(std::string_view("none"));
          else if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>)
            add(std::string_view(held));
          else
            add(held);
        },
        value);
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

void add_model(Hash& hash, const model::Model& model) {
  hash.add(std::string_view(model.name));
  hash.add(std::string_view(model.checkpoint_scheme));
  for (const auto& tensor : model.part.tensors) {
    hash.add(std::string_view(tensor.name));
    for (const Size size : tensor.shape) hash.add(size);
    hash.add(tensor.used);
    hash.add(tensor.of);
    hash.add(static_cast<Size>(tensor.role));
    hash.add(std::string_view(tensor.tied_to));
  }
  for (const auto& cache : model.part.caches) {
    hash.add(static_cast<Size>(cache.kind));
    for (const Size size : {cache.per_token, cache.per_sequence, cache.window, cache.score_dims,
                            cache.expanded_per_token, cache.kv_heads})
      hash.add(size);
  }
  for (const Size size : {model.shape.hidden_size, model.shape.vocabulary, model.shape.positions})
    hash.add(size);
  if (!model.stored) return;
  for (const auto& stored : model.stored->comparison.stored) {
    hash.add(stored.dtype);
    hash.add(stored.bytes.count());
  }
}

void add_machine(Hash& hash, const Machine& machine) {
  hash.add(std::string_view(machine.name));
  for (const Device& d : machine.devices) {
    hash.add(d.memory.count());
    for (const double rate : {d.bandwidth.value(), d.link.value(), d.host_bus.value()})
      hash.add(rate);
    for (const auto& peak : {d.fp32, d.tf32, d.fp16, d.bf16, d.fp8, d.int8, d.fp4})
      hash.add(peak ? peak->value() : 0.0);
  }
  const Host& h = machine.host;
  for (const Bytes size : {h.ram, h.disk}) hash.add(size.count());
  for (const double rate :
       {h.ram_bandwidth.value(), h.cpu_peak.value(), h.host_bus.value(), h.disk_read.value(),
        h.card_link.value(), h.network.value(), static_cast<double>(h.cores)})
    hash.add(rate);
}

void add_outcomes(Hash& hash, const JobGrid& grid) {
  constexpr Size sample = 64;
  const Size step = std::max<Size>(1, grid.grid.size() / sample);
  std::vector<Size> point(grid.digits.size());
  for (Size i = 0; i < grid.grid.size(); i += step) {
    grid.grid.decode(i, point);
    const model::Estimate estimate = model::evaluate(grid.scenario(point));
    for (const auto& column : report::stored_columns())
      if (column.type == report::SqlType::integer)
        hash.add(column.integer(estimate));
      else
        hash.add(column.real(estimate));
  }
}

}  // namespace

std::string fingerprint(const Job& job, const Spec& spec) {
  Hash hash;
  hash.add(std::string_view(HEADROOM_VERSION));
  hash.add(std::string_view(spec.text));
  for (const auto& model : job.models) add_model(hash, *model);
  for (const auto& machine : job.machines) add_machine(hash, *machine);
  for (const auto& grid : job.grids) {
    for (const auto& digit : grid.shape.digits)
      for (const auto& axis : digit) {
        hash.add(std::string_view(axis.column));
        for (const auto& value : axis.values) hash.add(value);
      }
    add_outcomes(hash, grid);
  }
  return hash.text();
}

}  // namespace headroom::sweep
