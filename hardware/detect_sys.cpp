// Detects cards through the kernel's /sys, for systems without the maker's tool.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include "hardware/detect.hpp"

namespace headroom {
namespace {

namespace fs = std::filesystem;

/// First line of a file. Empty if it cannot be read.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

std::int64_t number_in(const fs::path& file) {
  const std::string line = line_of(file);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  return error == std::errc() && end == line.data() + line.size() ? std::max<std::int64_t>(value, 0)
                                                                  : 0;
}

/// Subfolders of `folder` by name. None if it cannot be read.
std::vector<fs::path> folders(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    all.push_back(it->path());
  std::ranges::sort(all);
  return all;
}

/// PCIe generation by transfer rate: "16.0 GT/s PCIe" is 4. 0 if unknown.
int generation_of(const std::string& speed) {
  constexpr std::array starts = {"2.5 ", "5.0 ", "8.0 ", "16.0 ", "32.0 ", "64.0 "};
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (speed.starts_with(starts[i])) return static_cast<int>(i) + 1;
  return 0;
}

std::string_view maker_of(const std::string& vendor) {
  if (vendor == "0x10de") return "NVIDIA";
  return vendor == "0x1002" ? "AMD" : "";
}

}  // namespace

std::vector<DetectedCard> read_drm(const fs::path& drm, std::vector<std::string>& notes) {
  std::vector<DetectedCard> cards;
  for (const fs::path& folder : folders(drm)) {
    const std::string name = folder.filename().string();
    if (!name.starts_with("card") || name.find('-') != std::string::npos) continue;  // a connector
    const fs::path device = folder / "device";
    const std::int64_t memory = number_in(device / "mem_info_vram_total");
    if (memory == 0) continue;
    DetectedCard card;
    card.name = line_of(device / "product_name");
    if (card.name.empty()) {
      notes.push_back(
          fmt::format("/sys: {} of vendor {}, device {}, has no product name: describe it as a "
                      "card of your own",
                      name, line_of(device / "vendor"), line_of(device / "device")));
      continue;
    }
    card.memory = Bytes(memory);
    card.free = Bytes(memory - std::min(memory, number_in(device / "mem_info_vram_used")));
    card.pcie_generation = generation_of(line_of(device / "max_link_speed"));
    card.pcie_lanes =
        static_cast<int>(std::min<std::int64_t>(number_in(device / "current_link_width"), 32));
    card.found_by = "/sys";
    cards.push_back(std::move(card));
  }
  return cards;
}

void note_pci_cards(const fs::path& devices, std::vector<std::string>& notes) {
  for (const fs::path& folder : folders(devices)) {
    const std::string kind = line_of(folder / "class");
    const std::string_view maker = maker_of(line_of(folder / "vendor"));
    // PCI classes 0x03 (display controllers) and 0x12 (processing accelerators).
    if (maker.empty() || !(kind.starts_with("0x03") || kind.starts_with("0x12"))) continue;
    notes.push_back(fmt::format("{} {} at {} has no driver or tool that describes it", maker,
                                line_of(folder / "device"), folder.filename().string()));
  }
}

}  // namespace headroom
