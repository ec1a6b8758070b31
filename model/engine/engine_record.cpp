// The writer and the reader share one list of fields for each kind of row. A record has a heading
// of three numbers, then the texts, the constants and the rows. Many cells of efficiencies are
// equal, so rows hold numbers of constants. A row whose cells are all those of the row before says
// so.
#include "model/engine/engine_record.hpp"

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"

namespace headroom::model {
namespace {

template <class Archive>
void visit(Archive& io, CacheFormat& row) {
  io(row.precision), io(row.word), io(row.cards);
}

template <class Archive>
void visit(Archive& io, ExpertTiles& row) {
  io(row.from), io(row.before), io(row.inner_multiple), io(row.hidden_multiple);
  io(row.scales_twice);
}

template <class Archive>
void visit(Archive& io, CardsFrom& row) {
  io(row.vendor), io(row.compute_capability), io(row.before), io(row.architectures);
}

template <class Archive>
void visit(Archive& io, CheckpointSupport& row) {
  io(row.methods), io(row.cards), io(row.elsewhere);
}

template <class Archive>
void visit(Archive& io, DefaultContext& row) {
  io(row.from), io(row.tokens);
}

template <class Archive>
void visit(Archive& io, CardReserve& row) {
  io(row.from), io(row.chunk), io(row.graph_batch), io(row.graph_batch_of_four);
  io(row.bytes), io(row.each_card), io(row.at_least), io(row.shares);
}

template <class Archive>
void visit(Archive& io, Constant& row) {
  io(row.value), io(row.low), io(row.high), io(row.measurements), io(row.source);
}

template <class Archive>
void visit(Archive& io, Engine& row) {
  io(row.name), io(row.version), io(row.series), io(row.from), io(row.to);
  io(row.is_template), io(row.is_compared), io(row.family), io(row.generation), io(row.source);
  for (const EngineField& field : engine_fields())
    std::visit(
        [&](const auto& member) {
          if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Choice>)
            io.choice(member, row);
          else
            io(member(row));
        },
        field.type);
  for (const NamedConstant& each : named_constants())
    if (each.of_engine) io.constant(each.in(row));
  if (io.is_as_before(row)) return;
  for (const NamedConstant& each : named_constants())
    if (!each.of_engine)
      for (auto& by_width : row.kernels.efficiency)
        for (KernelEfficiency& rates : by_width) io.constant(rates.*each.of_efficiency);
}

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

bool has_equal_cells(const Engine& a, const Engine& b) {
  const auto fields = [](const Constant& c) {
    return std::tie(c.value, c.low, c.high, c.measurements, c.source);
  };
  for (std::size_t cards = 0; cards < card_classes; ++cards)
    for (std::size_t width = 0; width < widths; ++width)
      for (const NamedConstant& each : named_constants())
        if (!each.of_engine && fields(a.kernels.efficiency[cards][width].*each.of_efficiency) !=
                                   fields(b.kernels.efficiency[cards][width].*each.of_efficiency))
          return false;
  return true;
}

/// The bytes of texts, constants and rows.
using Heading = std::array<std::uint32_t, 3>;

class RecordWriter {
 public:
  template <Plain T>
  void operator()(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_->append(bytes, sizeof value);
  }
  void operator()(Bytes value) { (*this)(value.count()); }
  void operator()(std::string_view text) {
    const auto [at, is_new] =
        known_texts_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.append(text).push_back('\0');  // data() of a view is a C string too
    (*this)(at->second), (*this)(static_cast<std::uint32_t>(text.size()));
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class T>
  void operator()(std::vector<T>& all) {
    (*this)(static_cast<std::uint32_t>(all.size()));
    for (T& each : all) (*this)(each);
  }
  template <class Row>
    requires std::is_class_v<Row>
  void operator()(Row& row) {
    visit(*this, row);
  }
  void choice(const Choice& choice, Engine& row) {
    (*this)(static_cast<std::uint8_t>(choice.get(row)));
  }
  void constant(Constant& value) {
    const auto [at, is_new] = known_constants_.try_emplace(
        {value.value, value.low, value.high, value.measurements, std::string(value.source)},
        static_cast<std::uint32_t>(known_constants_.size()));
    if (is_new) {
      out_ = &constants_;
      visit(*this, value);
      out_ = &rows_;
    }
    (*this)(at->second);
  }

  bool is_as_before(const Engine& row) {
    const bool is_equal = before_ != nullptr && has_equal_cells(*before_, row);
    before_ = &row;
    (*this)(is_equal);
    return is_equal;
  }

  std::string record() {
    std::string all = std::move(rows_);
    const Heading sizes{static_cast<std::uint32_t>(texts_.size()),
                        static_cast<std::uint32_t>(constants_.size()),
                        static_cast<std::uint32_t>(all.size())};
    std::string heading(sizeof sizes, '\0');
    std::memcpy(heading.data(), sizes.data(), sizeof sizes);
    return heading + texts_ + constants_ + all;
  }

 private:
  std::string texts_, constants_, rows_;
  std::string* out_ = &rows_;
  const Engine* before_ = nullptr;
  std::map<std::string, std::uint32_t> known_texts_;
  std::map<std::tuple<double, double, double, int, std::string>, std::uint32_t> known_constants_;
};

class RecordReader {
 public:
  explicit RecordReader(std::string_view record) {
    Heading sizes{};
    if (record.size() < sizeof sizes) broken();
    std::memcpy(sizes.data(), record.data(), sizeof sizes);
    record.remove_prefix(sizeof sizes);
    if (record.size() != std::uint64_t{sizes[0]} + sizes[1] + sizes[2]) broken();
    texts_ = record.substr(0, sizes[0]);
    rest_ = record.substr(sizes[0], sizes[1]);
    constexpr std::size_t bytes = 3 * sizeof(double) + sizeof(int) + 2 * sizeof(std::uint32_t);
    constants_.reserve(rest_.size() / bytes);
    while (!rest_.empty()) visit(*this, constants_.emplace_back());
    rest_ = record.substr(record.size() - sizes[2]);
  }
  bool done() const { return rest_.empty(); }

  template <Plain T>
  void operator()(T& value) {
    if (rest_.size() < sizeof value) broken();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void operator()(Bytes& value) { value = Bytes(number<Size>()); }
  void operator()(std::string_view& text) {
    const auto at = number<std::uint32_t>(), size = number<std::uint32_t>();
    if (at > texts_.size() || size > texts_.size() - at) broken();
    text = texts_.substr(at, size);
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (!number<bool>()) return value.reset();
    (*this)(value.emplace());
  }
  template <class T>
  void operator()(std::vector<T>& all) {
    const auto size = number<std::uint32_t>();
    if (size > rest_.size()) broken();
    all.resize(size);
    for (T& each : all) (*this)(each);
  }
  template <class Row>
    requires std::is_class_v<Row>
  void operator()(Row& row) {
    visit(*this, row);
  }
  void choice(const Choice& choice, Engine& row) { choice.set(row, number<std::uint8_t>()); }
  void constant(Constant& value) {
    const auto at = number<std::uint32_t>();
    if (at >= constants_.size()) broken();
    value = constants_[at];
  }
  bool is_as_before(Engine& row) {
    const bool is_equal = number<bool>();
    if (is_equal && before_ == nullptr) broken();
    if (is_equal) row.kernels.efficiency = before_->kernels.efficiency;
    before_ = &row;
    return is_equal;
  }

 private:
  [[noreturn]] static void broken() {
    throw std::logic_error("the record of engines is of another build");
  }
  template <Plain T>
  T number() {
    T value{};
    (*this)(value);
    return value;
  }

  std::string_view texts_, rest_;
  std::vector<Constant> constants_;
  const Engine* before_ = nullptr;
};

}  // namespace

std::string to_record(std::span<const Engine> rows) {
  RecordWriter writer;
  std::vector<Engine> copies(rows.begin(), rows.end());
  writer(copies);
  return writer.record();
}

std::vector<Engine> from_record(std::string_view record) {
  RecordReader reader(record);
  std::vector<Engine> rows;
  reader(rows);
  if (!reader.done()) throw std::logic_error("the record of engines is of another build");
  return rows;
}

}  // namespace headroom::model
