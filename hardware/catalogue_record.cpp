// The writer and the reader share one list of fields for each kind of row.
#include "hardware/catalogue_record.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace headroom {
namespace {

template <class Archive>
void visit(Archive& io, Conflict& row) {
  io(row.key), io(row.kept), io(row.other), io(row.source);
}

template <class Archive>
void visit(Archive& io, Device& row) {
  io(row.name), io(row.title), io(row.vendor), io(row.aliases);
  io(row.memory), io(row.memory_nominal), io(row.visible), io(row.visible_needs);
  io(row.unified_memory);
  io(row.bandwidth);
  io(row.fp32), io(row.tf32), io(row.fp16), io(row.bf16), io(row.fp8), io(row.int8), io(row.fp4);
  io(row.link), io(row.link_kind), io(row.peer_access), io(row.host_bus), io(row.host_bus_kind);
  io(row.power_w), io(row.power_includes_host), io(row.power_unknown);
  io(row.compute_capability), io(row.multiprocessors), io(row.tensor_cores);
  io(row.architecture);
  io(row.host), io(row.launched);
  io(row.list_price_usd), io(row.source), io(row.date), io(row.unchecked), io(row.conflicts);
}

template <class Archive>
void visit(Archive& io, Processor& row) {
  io(row.name), io(row.title), io(row.aliases), io(row.cores), io(row.base_clock_ghz);
  io(row.flops_a_cycle), io(row.peak), io(row.ram_bandwidth), io(row.power_w);
  io(row.power_unknown), io(row.source), io(row.date), io(row.unchecked);
}

template <class Archive>
void visit(Archive& io, Host& row) {
  io(row.name), io(row.title), io(row.aliases), io(row.ram), io(row.ram_bandwidth);
  io(row.cpu), io(row.cores), io(row.sockets), io(row.cpu_peak), io(row.host_bus);
  io(row.disk), io(row.disk_read);
  io(row.disk_kind), io(row.card_link), io(row.network), io(row.power_w), io(row.power_unknown);
  io(row.cards), io(row.source), io(row.date), io(row.unchecked);
}

template <class Archive>
void visit(Archive& io, Catalogue& all) {
  io(all.devices), io(all.processors), io(all.hosts), io(all.default_host);
}

template <class T>
concept Plain = std::is_arithmetic_v<T>;

class Writer {
 public:
  template <Plain T>
  void operator()(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    record.append(bytes, sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    record += text;
  }
  void operator()(Bytes value) { (*this)(value.count()); }
  template <class Dimension>
  void operator()(Quantity<Dimension> value) {
    (*this)(value.value());
  }
  void operator()(ComputeCapability value) { (*this)(value.major), (*this)(value.minor); }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class Row>
  void operator()(std::vector<Row>& rows) {
    (*this)(static_cast<std::uint32_t>(rows.size()));
    for (Row& each : rows) {
      if constexpr (std::is_same_v<Row, std::string>)
        (*this)(each);
      else
        visit(*this, each);
    }
  }

  std::string record;
};

class Reader {
 public:
  explicit Reader(std::string_view record) : rest_(record) {}
  bool done() const { return rest_.empty(); }

  template <Plain T>
  void operator()(T& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
  }
  void operator()(std::string& text) { text = take(number<std::uint32_t>()); }
  void operator()(Bytes& value) { value = Bytes(number<std::int64_t>()); }
  template <class Dimension>
  void operator()(Quantity<Dimension>& value) {
    value = Quantity<Dimension>(number<double>());
  }
  void operator()(ComputeCapability& value) { (*this)(value.major), (*this)(value.minor); }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    if (number<bool>()) (*this)(value.emplace());
  }
  template <class Row>
  void operator()(std::vector<Row>& rows) {
    const auto count = number<std::uint32_t>();
    if (count > rest_.size()) broken();
    rows.resize(count);
    for (Row& each : rows) {
      if constexpr (std::is_same_v<Row, std::string>)
        (*this)(each);
      else
        visit(*this, each);
    }
  }

 private:
  [[noreturn]] static void broken() {
    throw std::logic_error("the catalogue's record is of another build");
  }
  /// The next `size` bytes of the record.
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) broken();
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }
  template <Plain T>
  T number() {
    T value{};
    (*this)(value);
    return value;
  }

  std::string_view rest_;
};

}  // namespace

std::string to_record(const Catalogue& catalogue) {
  Writer writer;
  Catalogue copy = catalogue;
  visit(writer, copy);
  return std::move(writer.record);
}

Catalogue from_record(std::string_view record) {
  Reader reader(record);
  Catalogue result;
  visit(reader, result);
  if (!reader.done()) throw std::logic_error("the catalogue's record is of another build");
  return result;
}

}  // namespace headroom
