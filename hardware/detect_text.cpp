// Parsers of driver tools' and kernel output. Nothing here accesses the computer.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "hardware/detect.hpp"
#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

/// Parses a text that consists of one non-negative number.
template <class Number>
std::optional<Number> number(std::string_view text) {
  text = trimmed(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < Number{})
    return std::nullopt;
  return value;
}

/// True for a driver's spellings of "unknown".
bool unknown(std::string_view field) {
  return field.empty() || field.front() == '[' || lower(field) == "n/a";
}

/// Collects notes about malformed lines: the first few, in characters safe for a terminal.
class Strange {
 public:
  Strange(std::string_view tool, std::vector<std::string>& notes) : tool_(tool), notes_(notes) {}
  ~Strange() {
    if (lines_ > most)
      notes_.push_back(fmt::format("{}: {} lines more are not understood", tool_, lines_ - most));
  }
  Strange(const Strange&) = delete;
  Strange& operator=(const Strange&) = delete;
  void add(std::string_view line) {
    if (++lines_ > most) return;
    std::string shown(line.substr(0, 120));
    for (char& c : shown)
      if (c < ' ' || c > '~') c = '?';
    notes_.push_back(fmt::format("{}: not understood: '{}'", tool_, shown));
  }

 private:
  static constexpr int most = 3;
  std::string_view tool_;
  std::vector<std::string>& notes_;
  int lines_ = 0;
};

/// The value of a "key : value" line in a /proc file.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != key) return std::nullopt;
  return trimmed(line.substr(colon + 1));
}

/// Used and free memory together: the driver reserves the rest of the total. Source: NVML,
/// nvmlMemory_v2_t.
Bytes visible_of(const DetectedCard& card, std::string_view used_mib) {
  const auto used = number<std::int64_t>(used_mib);
  if (!card.free || !used || *used >= 1 << 30) return {};
  const Bytes visible = *card.free + *used * mebibyte;
  return visible <= card.memory ? visible : Bytes();
}

}  // namespace

std::vector<std::string> nvidia_smi_query() {
  return {"nvidia-smi",
          "--query-gpu=name,memory.total,memory.free,driver_version,pcie.link.gen.max,"
          "pcie.link.width.max,compute_cap,power.limit,memory.used",
          "--format=csv,noheader,nounits"};
}

std::vector<DetectedCard> parse_nvidia_smi(std::string_view csv, std::vector<std::string>& notes) {
  constexpr std::size_t fields_wanted = 9, with_older_query = 8;
  Strange strange("nvidia-smi", notes);
  std::vector<DetectedCard> result;
  for (const std::string_view line : split(csv, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = split(line, ',');
    const bool whole = fields.size() == fields_wanted || fields.size() == with_older_query;
    const auto memory = whole ? number<std::int64_t>(fields[1]) : std::nullopt;
    const bool sensible = whole && !unknown(fields[0]) &&
                          (unknown(fields[1]) || (memory && *memory > 0 && *memory < 1 << 30));
    if (!sensible) {
      strange.add(line);
      continue;
    }
    DetectedCard card;
    card.name = fields[0];
    card.memory = memory.value_or(0) * mebibyte;
    if (const auto free = number<std::int64_t>(fields[2]); free && *free < 1 << 30)
      card.free = *free * mebibyte;
    if (fields.size() == fields_wanted) card.visible = visible_of(card, fields[8]);
    if (!unknown(fields[3])) card.driver = fields[3];
    card.pcie_generation = number<int>(fields[4]).value_or(0);
    card.pcie_lanes = number<int>(fields[5]).value_or(0);
    card.compute_capability = parse_compute_capability(fields[6]);
    card.power_w = number<double>(fields[7]).value_or(0);
    card.tried = true;
    result.push_back(std::move(card));
  }
  return result;
}

std::string parse_cuda_version(std::string_view banner) {
  for (const std::string_view label : {"CUDA Version:", "CUDA UMD Version:"}) {
    const std::size_t at = banner.find(label);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = trimmed(banner.substr(at + label.size()));
    const std::string_view version = rest.substr(0, rest.find_first_not_of("0123456789."));
    if (!version.empty()) return std::string(version);
  }
  return {};
}

std::vector<DetectedCard> parse_rocm_smi(std::string_view text, std::vector<std::string>& notes) {
  Strange strange("rocm-smi", notes);
  std::map<int, DetectedCard> cards;
  std::string driver;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto version = value_of(line, "Driver version")) driver = *version;
    if (!line.starts_with("GPU[")) continue;
    const std::size_t close = line.find(']');
    const auto index =
        close == std::string_view::npos ? std::nullopt : number<int>(line.substr(4, close - 4));
    const std::size_t colon = line.find(':');
    if (!index || colon == std::string_view::npos) {
      strange.add(line);
      continue;
    }
    DetectedCard& card = cards[*index];
    const std::string_view entry = trimmed(line.substr(colon + 1));
    if (const auto series = value_of(entry, "Card Series"); series && !unknown(*series))
      card.name = *series;
    if (const auto total = value_of(entry, "VRAM Total Memory (B)"))
      card.memory = Bytes(number<std::int64_t>(*total).value_or(0));
    if (const auto used = value_of(entry, "VRAM Total Used Memory (B)"))
      if (const auto count = number<std::int64_t>(*used))
        card.free = card.memory - std::min(card.memory, Bytes(*count));
  }
  std::vector<DetectedCard> result;
  for (auto& [index, card] : cards) {
    if (card.name.empty() || card.memory == Bytes()) {
      notes.push_back(fmt::format("rocm-smi: GPU {} has no name or no memory", index));
      continue;
    }
    card.driver = driver;
    card.found_by = "rocm-smi";
    result.push_back(std::move(card));
  }
  return result;
}

std::vector<std::string> sysctl_query() {
  return {"sysctl", "hw.memsize", "hw.physicalcpu", "machdep.cpu.brand_string"};
}

void parse_sysctl(std::string_view text, std::string_view vm_stat, Detection& found) {
  std::string chip;
  std::optional<std::int64_t> memory, cores;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto value = value_of(line, "machdep.cpu.brand_string")) chip = *value;
    if (const auto value = value_of(line, "hw.memsize")) memory = number<std::int64_t>(*value);
    if (const auto value = value_of(line, "hw.physicalcpu")) cores = number<std::int64_t>(*value);
  }
  constexpr std::string_view maker = "Apple ";
  if (!chip.starts_with(maker) || !memory || *memory <= 0) return;
  found.cpu = chip;
  found.ram = Bytes(*memory);
  found.cores = static_cast<int>(std::clamp<std::int64_t>(cores.value_or(1), 1, 1 << 16));
  // "(page size of 16384 bytes)", "Pages free:    12345."
  const auto size_at = vm_stat.find("page size of ");
  std::int64_t page = 0, pages = 0;
  if (size_at != std::string_view::npos) {
    const std::string_view rest = vm_stat.substr(size_at + 13);
    page = number<std::int64_t>(rest.substr(0, rest.find(' '))).value_or(0);
  }
  for (const std::string_view line : split(vm_stat, '\n'))
    for (const std::string_view key : {"Pages free", "Pages inactive", "Pages speculative"})
      if (auto value = value_of(line, key)) {
        if (value->ends_with('.')) value->remove_suffix(1);
        pages += std::min(number<std::int64_t>(*value).value_or(0), std::int64_t{1} << 40);
      }
  if (page > 0 && page <= 1 << 20 && pages > 0)
    found.ram_available = std::min(found.ram, Bytes(page * pages));
  DetectedCard card;
  card.name = chip.substr(maker.size());
  card.memory = found.ram;
  card.found_by = "sysctl";
  if (found.ram_available > Bytes()) card.free = found.ram_available;
  found.cards.push_back(std::move(card));
}

std::optional<Bytes> parse_meminfo(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    auto value = value_of(line, key);
    if (!value) continue;
    if (!value->ends_with("kB")) return std::nullopt;
    value->remove_suffix(2);
    const auto count = number<std::int64_t>(*value);
    if (!count || *count > std::int64_t{1} << 50) return std::nullopt;
    return *count * Bytes(1024);
  }
  return std::nullopt;
}

std::optional<Bytes> parse_memory_limit(std::string_view text) {
  const auto count = number<std::int64_t>(text);
  if (!count || *count >= std::int64_t{1} << 60) return std::nullopt;
  return Bytes(*count);
}

std::optional<int> parse_cpu_limit(std::string_view text) {
  const std::vector<std::string_view> fields = split(trimmed(text), ' ');
  if (fields.size() != 2) return std::nullopt;
  const auto quota = number<std::int64_t>(fields[0]);
  const auto period = number<std::int64_t>(fields[1]);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<int>(std::clamp<std::int64_t>(*quota / *period, 1, 1 << 20));
}

std::string parse_cgroup_path(std::string_view text) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("0::")) return std::string(line.substr(3));
  return {};
}

int parse_core_count(std::string_view cpuinfo) {
  std::set<std::pair<int, int>> cores;
  int processors = 0;
  int package = 0;
  for (const std::string_view line : split(cpuinfo, '\n')) {
    if (value_of(line, "processor")) ++processors;
    if (const auto id = value_of(line, "physical id")) package = number<int>(*id).value_or(0);
    if (const auto id = value_of(line, "core id"))
      cores.emplace(package, number<int>(*id).value_or(0));
  }
  return std::max(1, cores.empty() ? processors : static_cast<int>(cores.size()));
}

int parse_node_count(std::string_view online) {
  int nodes = 0;
  for (const std::string_view range : split(trimmed(online), ',')) {
    const auto dash = range.find('-');
    const auto first = number<int>(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number<int>(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1 << 16) return 1;
    nodes += *last - *first + 1;
  }
  return nodes;
}

std::string parse_cpu_name(std::string_view cpuinfo) {
  for (const std::string_view line : split(cpuinfo, '\n'))
    if (const auto name = value_of(line, "model name")) return std::string(*name);
  return {};
}

}  // namespace headroom
