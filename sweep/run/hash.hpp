// A digest of whole objects. The compiler lists the fields of a struct, so that none can be
// forgotten.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/pfr.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "hardware/units.hpp"
#include "report/digest.hpp"
#include "report/run_info.hpp"

namespace headroom::sweep {

class Hash : public report::Digest {
 public:
  using Digest::add;
  void add(const std::string& text) { add(std::string_view(text)); }
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
  template <class T, std::size_t inside>
  void add(const boost::container::small_vector<T, inside>& values) {
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
};

}  // namespace headroom::sweep
