#include "model/infer/placement/max_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "hardware/names.hpp"

namespace headroom::model {
namespace {

struct Unit {
  std::string_view suffix;
  double bytes;
  bool decimal;
};
// Source: accelerate 1.15 utils/modeling.py, convert_file_size_to_int.
constexpr Unit units[] = {{"gib", GiB, false}, {"mib", MiB, false}, {"kib", 1024.0, false},
                          {"gb", 1e9, true},   {"mb", 1e6, true},   {"kb", 1e3, true}};

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument(fmt::format(
      "'{}' is not an amount of memory; write it as 6GiB, 500MiB, 35GB or a whole number of bytes",
      text));
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// GPUs ascending, then mps, cpu, disk: accelerate's order of filling.
std::pair<int, Size> rank(const DeviceMemory& device) {
  if (device.is_gpu()) return {0, std::stoll(device.device)};
  return {device.device == "mps" ? 1 : device.device == "cpu" ? 2 : 3, 0};
}

}  // namespace

Bytes parse_accelerate_memory(std::string_view text) {
  if (all_digits(text)) {
    Size bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{}) refuse(text);
    return Bytes(bytes);
  }
  const std::string wanted = lower(text);
  for (const Unit& unit : units) {
    if (!wanted.ends_with(unit.suffix)) continue;
    std::string_view number =
        std::string_view(wanted).substr(0, wanted.size() - unit.suffix.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size() || !(value >= 0) ||
        value * unit.bytes > 9e18)
      refuse(text);
    const auto bytes = static_cast<Size>(value * unit.bytes);
    return Bytes(unit.decimal && text.back() == 'b' ? bytes / 8 : bytes);
  }
  refuse(text);
}

MaxMemory parse_max_memory(std::span<const std::string> entries) {
  MaxMemory memory;
  for (const std::string& entry : entries) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      throw std::invalid_argument(
          fmt::format("'{}' is not DEVICE=MEMORY, such as 0=6GiB or cpu=25GiB", entry));
    const std::string device = entry.substr(0, equals);
    if (!all_digits(device) && device != "cpu" && device != "disk" && device != "mps")
      throw std::invalid_argument(
          fmt::format("device '{}' is not a GPU's number, mps, cpu or disk", device));
    if (device.size() > 4) throw std::invalid_argument(fmt::format("no GPU {}", device));
    if (std::any_of(memory.begin(), memory.end(),
                    [&](const DeviceMemory& d) { return d.device == device; }))
      throw std::invalid_argument(fmt::format("device {} is given twice", device));
    const Bytes bytes = parse_accelerate_memory(entry.substr(equals + 1));
    memory.push_back({device, bytes.count() > (Size{1} << 59) ? Size{1} << 62 : 8 * bytes.count()});
  }
  if (memory.empty()) throw std::invalid_argument("no device given; write 0=6GiB, cpu=25GiB");
  std::sort(memory.begin(), memory.end(),
            [](const DeviceMemory& a, const DeviceMemory& b) { return rank(a) < rank(b); });
  if (memory.back().device != "disk") memory.push_back({"disk", 0, false});
  return memory;
}

}  // namespace headroom::model
