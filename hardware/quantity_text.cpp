// Parses and prints quantities. Decimal fractions use integer arithmetic, so "0.1GB" is exactly
// 100,000,000 bytes.
#include "hardware/quantity_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::string_view bytes_wanted =
    "a number with its unit, for example 8GB (8 x 10^9 bytes), 8GiB (8 x 2^30 bytes) or 512MiB";
constexpr std::string_view rate_wanted = "a number with its unit, for example 900GB/s or 25GiB/s";
constexpr std::string_view flops_wanted = "a number with its unit, for example 312TFLOPS";

[[noreturn]] void reject(std::string_view text, std::string_view why, std::string_view wanted) {
  throw std::invalid_argument(fmt::format("'{}': {}; expected {}", text, why, wanted));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A decimal number, digits * 10^-places, followed by a unit.
struct Written {
  std::uint64_t digits = 0;
  int places = 0;
  std::string_view unit;
};

Written read_number(std::string_view text, std::string_view wanted) {
  std::string_view rest = trimmed(text);
  if (rest.empty()) reject(text, "empty", wanted);
  if (rest.front() == '-') reject(text, "a negative quantity", wanted);
  Written result;
  bool after_point = false;
  bool any = false;
  while (!rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !after_point))) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '.') {
      after_point = true;
      continue;
    }
    any = true;
    if (result.digits > (std::numeric_limits<std::uint64_t>::max() - 9) / 10)
      reject(text, "too many digits", wanted);
    result.digits = result.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (after_point) ++result.places;
  }
  if (!any) reject(text, "no number", wanted);
  result.unit = trimmed(rest);
  if (result.unit.empty()) reject(text, "a number without a unit", wanted);
  return result;
}

/// Factor of a prefix ("", k, m, g, t, p, e): powers of 1000, or of 1024 with a following "i".
std::optional<std::uint64_t> factor(std::string_view prefix) {
  if (prefix.empty()) return 1;
  const std::size_t power = std::string_view("kmgtpe").find(prefix.front());
  if (power == std::string_view::npos || prefix.size() > 2) return std::nullopt;
  if (prefix.size() == 2 && prefix[1] != 'i') return std::nullopt;
  std::uint64_t result = 1;
  for (std::size_t i = 0; i <= power; ++i) result *= prefix.size() == 2 ? 1024 : 1000;
  return result;
}

/// The prefix before `ending`. Empty if `unit` (lower case) does not end with it.
std::optional<std::string_view> before(std::string_view unit, std::string_view ending) {
  if (!unit.ends_with(ending)) return std::nullopt;
  return unit.substr(0, unit.size() - ending.size());
}

/// Rejects "Gb", which means bits: reading it as bytes would be wrong by a factor of eight.
void reject_bits(std::string_view text, std::string_view unit, std::string_view wanted) {
  if (unit.size() >= 2 && unit.back() == 'b' && unit.front() >= 'A' && unit.front() <= 'Z')
    reject(text, "a small b after a capital prefix means bits", wanted);
}

double real_value(const Written& written) {
  double value = static_cast<double>(written.digits);
  double power = 1;
  for (int i = 0; i < written.places; ++i) power *= 10;
  return value / power;
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  const Written written = read_number(text, bytes_wanted);
  reject_bits(text, written.unit, bytes_wanted);
  const std::string unit = lower(written.unit);
  const auto prefix = before(unit, "b");
  const auto unit_bytes = prefix ? factor(*prefix) : std::nullopt;
  if (!unit_bytes) reject(text, fmt::format("unknown unit '{}'", written.unit), bytes_wanted);
  Wide value = Wide{written.digits} * *unit_bytes;
  for (int i = 0; i < written.places; ++i) value /= 10;
  if (value > Wide{std::numeric_limits<std::int64_t>::max()})
    reject(text, "more than 2^63 - 1 bytes", bytes_wanted);
  return Bytes(static_cast<std::int64_t>(value));
}

BytesPerSecond parse_rate(std::string_view text) {
  const Written written = read_number(text, rate_wanted);
  std::string_view per_second = written.unit;
  if (!lower(per_second).ends_with("/s"))
    reject(text, fmt::format("unknown unit '{}'", written.unit), rate_wanted);
  per_second.remove_suffix(2);
  const std::string unit = lower(per_second);
  if (const auto prefix = before(unit, "bit"))
    if (const auto bits = factor(*prefix))
      return BytesPerSecond(real_value(written) * static_cast<double>(*bits) / 8);
  reject_bits(text, per_second, rate_wanted);
  const auto prefix = before(unit, "b");
  const auto unit_bytes = prefix ? factor(*prefix) : std::nullopt;
  if (!unit_bytes) reject(text, fmt::format("unknown unit '{}'", written.unit), rate_wanted);
  return BytesPerSecond(real_value(written) * static_cast<double>(*unit_bytes));
}

FlopsPerSecond parse_flops(std::string_view text) {
  const Written written = read_number(text, flops_wanted);
  const std::string unit = lower(written.unit);
  for (const std::string_view ending : {"flops", "flop/s", "ops"}) {
    const auto prefix = before(unit, ending);
    if (!prefix || prefix->size() > 1) continue;
    if (const auto unit_flops = factor(*prefix))
      return FlopsPerSecond(real_value(written) * static_cast<double>(*unit_flops));
  }
  reject(text, fmt::format("unknown unit '{}'", written.unit), flops_wanted);
}

Seconds parse_seconds(std::string_view text) {
  constexpr std::string_view wanted = "a time such as 200ms, 2s, 1.5min or 3h";
  const Written written = read_number(text, wanted);
  const std::string unit = lower(written.unit);
  for (const auto& [name, seconds] :
       {std::pair{"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}})
    if (unit == name) {
      if (!(real_value(written) > 0)) reject(text, "no time at all", wanted);
      return Seconds(real_value(written) * seconds);
    }
  reject(text, fmt::format("unknown unit '{}'", written.unit), wanted);
}

double parse_positive(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1e12)
    throw std::invalid_argument(fmt::format("found '{}', expected a number above 0", text));
  return value;
}

double parse_positive_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = text.substr(0, text.size() - (percent ? 1 : 0));
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (percent) value /= 100;
  if (error != std::errc{} || end != digits.data() + digits.size() || !(value > 0) || value > 1)
    throw std::invalid_argument(fmt::format(
        "found '{}', expected a share above 0 and at most 1, such as 0.3 or 30%", text));
  return value;
}

std::string plural(Size number, std::string_view noun) {
  std::string word(noun);
  if (number == 1) return word;
  if (word.ends_with('s') || word.ends_with('x') || word.ends_with("ch")) return word + "es";
  if (!word.ends_with('y') || word.ends_with("ay") || word.ends_with("ey")) return word + 's';
  word.back() = 'i';
  return word + "es";
}

std::string counted(Size number, std::string_view noun) {
  return fmt::format("{} {}", number, plural(number, noun));
}

std::string percent(double share) {
  const double rounded = std::round(100 * share);
  if (share > 0 && rounded < 1) return "<1 %";
  if (share < 1 && rounded >= 100) return ">99 %";
  return fmt::format("{:.0f} %", rounded);
}

std::string change_percent(double ratio) {
  const double change = std::round(100 * (ratio - 1));
  return change == 0 ? std::string("0 %") : fmt::format("{:+.0f} %", change);
}

std::string to_text(Bytes bytes) {
  const double count = real_count(bytes);
  const double rounds_up = GiB - MiB / 200;  // to 1024.00 MiB
  if (count >= rounds_up || count <= -rounds_up) return fmt::format("{:.2f} GiB", count / GiB);
  return fmt::format("{:.2f} MiB", count / MiB);
}

}  // namespace headroom
