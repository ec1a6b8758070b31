// The writer and the reader share one list of fields for each kind of row.
#include "hardware/catalogue_record.hpp"

#include <charconv>
#include <stdexcept>
#include <system_error>

namespace headroom {
namespace {

template <class Archive>
void visit(Archive& io, Conflict& row) {
  io(row.key), io(row.kept), io(row.other), io(row.source);
}

template <class Archive>
void visit(Archive& io, Device& row) {
  io(row.name), io(row.title), io(row.vendor), io(row.aliases);
  io(row.memory), io(row.memory_nominal), io(row.visible), io(row.unified_memory);
  io(row.bandwidth);
  io(row.fp32), io(row.tf32), io(row.fp16), io(row.bf16), io(row.fp8), io(row.int8), io(row.fp4);
  io(row.link), io(row.link_kind), io(row.host_bus), io(row.host_bus_kind);
  io(row.power_w), io(row.power_includes_host), io(row.power_unknown);
  io(row.compute_capability), io(row.multiprocessors), io(row.host), io(row.launched);
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

class Writer {
 public:
  void operator()(const std::string& text) {
    if (text.find('\n') != std::string::npos)
      throw std::logic_error("a text of the catalogue has a line break: " + text);
    record += text;
    record += '\n';
  }
  void operator()(double value) { number(value); }
  void operator()(int value) { number(value); }
  void operator()(bool value) { number(value ? 1 : 0); }
  void operator()(Bytes value) { number(value.count()); }
  template <class Dimension>
  void operator()(Quantity<Dimension> value) {
    number(value.value());
  }
  void operator()(const std::optional<ComputeCapability>& value) { (*this)(to_string(value)); }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    if (value)
      (*this)(*value);
    else
      record += '\n';
  }
  template <class Row>
  void operator()(std::vector<Row>& rows) {
    number(static_cast<std::int64_t>(rows.size()));
    for (Row& each : rows) {
      if constexpr (std::is_same_v<Row, std::string>)
        (*this)(each);
      else
        visit(*this, each);
    }
  }

  std::string record;

 private:
  template <class Number>
  void number(Number value) {
    char buffer[32];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    record.append(buffer, end);
    record += '\n';
  }
};

class Reader {
 public:
  explicit Reader(std::string_view record) : rest_(record) {}
  bool done() const { return rest_.empty(); }

  void operator()(std::string& text) { text = line(); }
  void operator()(double& value) { value = number<double>(line()); }
  void operator()(int& value) { value = number<int>(line()); }
  void operator()(bool& value) { value = number<int>(line()) != 0; }
  void operator()(Bytes& value) { value = Bytes(number<std::int64_t>(line())); }
  template <class Dimension>
  void operator()(Quantity<Dimension>& value) {
    value = Quantity<Dimension>(number<double>(line()));
  }
  void operator()(std::optional<ComputeCapability>& value) {
    value = parse_compute_capability(line());
  }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    if (const std::string_view text = line(); !text.empty()) value = Value(number<double>(text));
  }
  template <class Row>
  void operator()(std::vector<Row>& rows) {
    const auto count = number<std::int64_t>(line());
    if (count < 0 || count > static_cast<std::int64_t>(rest_.size())) broken();
    rows.resize(static_cast<std::size_t>(count));
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
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) broken();
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return result;
  }
  template <class Number>
  static Number number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) broken();
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
