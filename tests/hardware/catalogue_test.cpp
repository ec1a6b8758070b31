// Shipped rows against arithmetic and against each other, and the ways to name them.
#include "hardware/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "hardware/catalogue_files.hpp"
#include "hardware/catalogue_record.hpp"
#include "hardware/names.hpp"
#include "tests/support/paths.hpp"

namespace headroom {
namespace {

double tera(const std::optional<FlopsPerSecond>& rate) { return rate ? rate->value() / 1e12 : 0; }

TEST(Catalogue, ContainsTheUsualCardsAndHosts) {
  const Catalogue& catalogue = shipped_catalogue();
  EXPECT_GE(catalogue.devices.size(), 107u);
  EXPECT_GE(catalogue.hosts.size(), 12u);
  for (const char* name : {"a100-sxm-40gb", "h100-sxm-80gb", "h200-sxm-141gb", "rtx-4090",
                           "m2-ultra-192gb", "mi300x", "tpu-v5e", "gaudi2", "arc-a770-16gb"})
    EXPECT_EQ(catalogue.device(name).name, name);
  for (const char* name : {"dual-epyc-120gb", "epyc-genoa-768gb", "laptop-16gb", "dgx-b200"})
    EXPECT_EQ(catalogue.host(name).name, name);
  EXPECT_EQ(catalogue.host(catalogue.default_host).name, catalogue.default_host);
}

TEST(Catalogue, TheProgramContainsTheFiles) {
  std::vector<std::filesystem::path> files;
  for (const auto& each :
       std::filesystem::directory_iterator(test::source_path("hardware/catalogue")))
    if (each.path().extension() == ".toml") files.push_back(each.path());
  const Catalogue read = read_catalogue(files);
  for (const Device& each : read.devices) {
    EXPECT_EQ(shipped_catalogue().device(each.name), each) << each.name;
  }
  for (const Host& each : read.hosts) {
    EXPECT_EQ(shipped_catalogue().host(each.name), each) << each.name;
  }
  EXPECT_EQ(shipped_catalogue().processors, read.processors);
  EXPECT_EQ(shipped_catalogue().devices.size(), read.devices.size());
  EXPECT_EQ(shipped_catalogue().hosts.size(), read.hosts.size());
  EXPECT_EQ(shipped_catalogue().default_host, read.default_host);
}

TEST(Catalogue, RecordsOfAnotherBuildAreRefused) {
  const std::string record = to_record(shipped_catalogue());
  EXPECT_EQ(from_record(record), shipped_catalogue());
  EXPECT_THROW(from_record(""), std::logic_error);
  EXPECT_THROW(from_record(record + "1\n"), std::logic_error);
  EXPECT_THROW(from_record(record.substr(0, record.size() / 2)), std::logic_error);
  EXPECT_THROW(from_record("1\nname\ntitle\nvendor\nmany\n"), std::logic_error);
}

TEST(Catalogue, FiguresThatDocumentsState) {
  const Catalogue& catalogue = shipped_catalogue();
  const Device& h100 = catalogue.device("h100-sxm-80gb");
  EXPECT_EQ(h100.memory, 81559 * Bytes(1 << 20));  // nvidia-smi reading, 2026-10
  EXPECT_FALSE(h100.memory_nominal);
  EXPECT_EQ(catalogue.device("h200").memory, 143771 * Bytes(1 << 20));  // nvidia-smi, 2026-11
  EXPECT_DOUBLE_EQ(h100.bandwidth.value(), 3350e9);                     // NVIDIA H100 data sheet
  EXPECT_DOUBLE_EQ(tera(h100.bf16), 989);                               // 1,979 with sparsity
  EXPECT_DOUBLE_EQ(tera(catalogue.device("a100-sxm-40gb").bf16), 312);
  EXPECT_DOUBLE_EQ(h100.link.value(), 450e9);  // 900 GB/s both directions
  EXPECT_EQ(catalogue.device("tpu-v5e").memory, 16 * Bytes(1 << 30));
  EXPECT_TRUE(catalogue.device("tpu-v5e").memory_nominal);
  EXPECT_TRUE(catalogue.device("m2-ultra-192gb").unified_memory);
}

TEST(ComputeCapability, IsReadAsTwoNumbersInOrder) {
  EXPECT_EQ(parse_compute_capability("8.9"), (ComputeCapability{8, 9}));
  EXPECT_LT(parse_compute_capability("9.0"), parse_compute_capability("10.3"));
  for (const std::string_view wrong :
       {"", "9", "9.", ".0", "nine", "9.0a", "-1.0", "9.10", "[N/A]"})
    EXPECT_EQ(parse_compute_capability(wrong), std::nullopt) << wrong;
  EXPECT_EQ(to_string(parse_compute_capability("12.1")), "12.1");
  EXPECT_EQ(to_string(std::nullopt), "");
}

TEST(Catalogue, EveryRowIsWholeAndSourced) {
  for (const Device& row : shipped_catalogue().devices) {
    EXPECT_FALSE(row.source.empty() || row.date.empty() || row.vendor.empty()) << row.name;
    EXPECT_EQ(row.source.find(".toml"), std::string::npos) << row.name << " cites only its file";
    EXPECT_GT(row.memory.count(), 0) << row.name;
    EXPECT_GT(row.bandwidth.value(), 10e9) << row.name;
    EXPECT_LT(row.bandwidth.value(), 20e12) << row.name;
    EXPECT_EQ(row.link.value() > 0, !row.link_kind.empty()) << row.name;
    EXPECT_EQ(row.host_bus.value() > 0, !row.host_bus_kind.empty()) << row.name;
    if (!row.host.empty()) {
      EXPECT_EQ(shipped_catalogue().host(row.host).name, row.host) << row.name;
    }
    for (const Conflict& each : row.conflicts)
      EXPECT_NE(each.kept, each.other) << row.name << " " << each.key;
  }
  for (const Processor& row : shipped_catalogue().processors) {
    EXPECT_FALSE(row.source.empty() || row.date.empty() || row.title == row.name) << row.name;
    EXPECT_EQ(row.source.find(".toml"), std::string::npos) << row.name << " cites only its file";
    EXPECT_GT(row.cores, 0) << row.name;
    EXPECT_GT(row.peak.value(), 0) << row.name;
    EXPECT_GT(row.ram_bandwidth.value(), 0) << row.name;
  }
  for (const Host& row : shipped_catalogue().hosts) {
    EXPECT_FALSE(row.source.empty() || row.date.empty()) << row.name;
    EXPECT_EQ(row.source.find(".toml"), std::string::npos) << row.name << " cites only its file";
    EXPECT_GT(row.disk.count(), 0) << row.name;
    EXPECT_GT(row.disk_read.value(), 0) << row.name;
    EXPECT_GT(row.host_bus.value(), 0) << row.name;
  }
}

TEST(Catalogue, EveryAliasFindsItsRow) {
  for (const Device& row : shipped_catalogue().devices)
    for (const std::string& alias : row.aliases)
      EXPECT_EQ(shipped_catalogue().device(alias).name, row.name) << alias;
  for (const Host& row : shipped_catalogue().hosts)
    for (const std::string& alias : row.aliases)
      EXPECT_EQ(shipped_catalogue().host(alias).name, row.name) << alias;
}

TEST(Catalogue, PeaksAreDenseByTheArithmeticOfTheirTensorCores) {
  // A peak with 2:1 sparsity would be twice the arithmetic. Hopper boards clock below boost under
  // load and the makers' figures say so: 0.9 to 1.0 of it. If a row follows a source that is
  // further off, the row says so as a conflict.
  std::ifstream file(test::source_path("tests/hardware/tensor_peaks.csv"));
  std::string line;
  int compared = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#') || line.starts_with("name,")) continue;
    std::istringstream fields(line);
    std::string name;
    double cores = 0, megahertz = 0, multiply_adds = 0, half = 0;
    char comma = 0;
    std::getline(fields, name, ',');
    fields >> cores >> comma >> megahertz >> comma >> multiply_adds >> comma >> half;
    const double expected = cores * multiply_adds * 2 * megahertz * 1e6 / (half > 0 ? 2 : 1) / 1e12;
    const Device& row = shipped_catalogue().device(name);
    const double stated = tera(row.fp16);
    const bool says_so = std::ranges::any_of(
        row.conflicts, [](const Conflict& each) { return each.key == "fp16_tflops"; });
    if (says_so && half == 0) {
      EXPECT_TRUE(stated > expected * 0.45 && stated < expected * 2.1) << name;
      continue;
    }
    EXPECT_GT(stated, expected * 0.91) << name << ": arithmetic gives " << expected;
    EXPECT_LT(stated, expected * 1.05) << name << ": arithmetic gives " << expected;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

TEST(Catalogue, MultiprocessorsHaveFourTensorCoresOrEight) {
  std::ifstream file(test::source_path("tests/hardware/tensor_peaks.csv"));
  std::string line;
  int compared = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#') || line.starts_with("name,")) continue;
    std::istringstream fields(line);
    std::string name;
    int cores = 0;
    std::getline(fields, name, ',');
    fields >> cores;
    const Device& row = shipped_catalogue().device(name);
    if (row.multiprocessors == 0) continue;
    EXPECT_EQ(row.multiprocessors * (*row.compute_capability < ComputeCapability{8, 0} ? 8 : 4),
              cores)
        << name;
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

TEST(Catalogue, SlicesAddUpToNoMoreThanTheirCard) {
  int slices = 0;
  for (const Device& row : shipped_catalogue().devices) {
    const std::size_t at = row.name.find("-mig-");
    if (at == std::string::npos) continue;
    ++slices;
    const Device& card = shipped_catalogue().device(row.name.substr(0, at));
    const double count = row.name[at + 5] - '0';  // "3g.40gb": 3 of 7 compute slices
    EXPECT_LE(row.memory.real() / card.memory.real(), 0.51) << row.name;
    EXPECT_EQ(usable_memory(row), row.memory) << row.name;
    EXPECT_LE(usable_memory(row).real() / usable_memory(card).real(), 0.5) << row.name;
    EXPECT_LE(tera(row.fp16) / tera(card.fp16), (count + 1) / 8) << row.name;
    EXPECT_LE(row.bandwidth / card.bandwidth, 0.5) << row.name;
    EXPECT_NEAR(static_cast<double>(row.multiprocessors) / card.multiprocessors,
                tera(row.fp16) / tera(card.fp16), 1e-3)
        << row.name;
    EXPECT_EQ(row.link, BytesPerSecond()) << row.name;
    EXPECT_EQ(row.link_kind, "") << row.name;
  }
  EXPECT_GE(slices, 16);
}

TEST(Catalogue, FoundAsDriversAndPeopleSpellThem) {
  const Catalogue& catalogue = shipped_catalogue();
  // Names as nvidia-smi and rocm-smi print them.
  EXPECT_EQ(catalogue.device("NVIDIA GeForce RTX 4090").name, "rtx-4090");
  EXPECT_EQ(catalogue.device("NVIDIA A100-SXM4-40GB").name, "a100-sxm-40gb");
  EXPECT_EQ(catalogue.device("NVIDIA A100 80GB PCIe").name, "a100-pcie-80gb");
  EXPECT_EQ(catalogue.device("NVIDIA H100 80GB HBM3").name, "h100-sxm-80gb");
  EXPECT_EQ(catalogue.device("Tesla V100-SXM2-32GB").name, "v100-sxm-32gb");
  EXPECT_EQ(catalogue.device("AMD Instinct MI300X").name, "mi300x");
  EXPECT_EQ(catalogue.device("rtx4090").name, "rtx-4090");
  EXPECT_EQ(catalogue.device("4090").name, "rtx-4090");
  EXPECT_EQ(catalogue.device("3080 Ti").name, "rtx-3080-ti");
  EXPECT_EQ(catalogue.device("RTX 2080Ti 11GB").name, "rtx-2080-ti");
  EXPECT_EQ(catalogue.device("NVIDIA H100 80GB SXM").name, "h100-sxm-80gb");
  EXPECT_EQ(catalogue.device("A100-SXM4-80G").name, "a100-sxm-80gb");
  EXPECT_EQ(catalogue.device("RTX_3090").name, "rtx-3090");
  // A grade joined to the model number, and the box around a chip.
  EXPECT_EQ(catalogue.device("3080ti").name, "rtx-3080-ti");
  EXPECT_EQ(catalogue.device("4070TiSuper").name, "rtx-4070-ti-super");
  EXPECT_EQ(catalogue.device("7900xtx").name, "rx-7900-xtx");
  EXPECT_EQ(catalogue.device("Mac Studio M4 Max 64GB").name, "m4-max-64gb");
  EXPECT_EQ(catalogue.device("MacBook Pro M4 Pro 48GB").name, "m4-pro-48gb");
}

TEST(Catalogue, ASizeOfMemoryMayBeAddedWhereItIsRight) {
  const Catalogue& catalogue = shipped_catalogue();
  EXPECT_EQ(catalogue.device("NVIDIA L40S 48GB").name, "l40s");
  EXPECT_EQ(catalogue.device("T4 16 GB").name, "t4");
  EXPECT_EQ(catalogue.device("A800 80GiB").name, "a800-sxm-80gb");
  EXPECT_THROW(catalogue.device("RTX 4090 48GB"), UnknownName);
  EXPECT_THROW(catalogue.device("V100 32GB"), UnknownName) << "SXM or PCIe";
  EXPECT_THROW(catalogue.device("24GB"), UnknownName);
}

TEST(Catalogue, AmbiguousNamesListWhatTheyMayMean) {
  try {
    shipped_catalogue().device("a100-40gb");
    FAIL() << "a100-40gb was accepted";
  } catch (const UnknownName& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("ambiguous"), std::string::npos) << message;
    EXPECT_NE(message.find("a100-sxm-40gb"), std::string::npos) << message;
    EXPECT_NE(message.find("a100-pcie-40gb"), std::string::npos) << message;
    EXPECT_EQ(message.find("80gb"), std::string::npos) << message;
    EXPECT_EQ(message.find("mig"), std::string::npos) << message;
  }
  EXPECT_THROW(shipped_catalogue().device("rtx-4091"), UnknownName);
  EXPECT_THROW(shipped_catalogue().device(""), UnknownName);
  EXPECT_THROW(shipped_catalogue().host("nvidia"), UnknownName);
}

TEST(Device, PeaksFallBackTheWayTheHardwareDoes) {
  const Catalogue& catalogue = shipped_catalogue();
  const Device& a100 = catalogue.device("a100-sxm-80gb");
  EXPECT_EQ(a100.peak(Arithmetic::fp8), *a100.bf16);  // no fp8 units: unpacked
  EXPECT_EQ(a100.peak(Arithmetic::dequantised), *a100.bf16);
  EXPECT_EQ(a100.peak(Arithmetic::int8), *a100.int8);
  const Device& v100 = catalogue.device("v100-sxm-32gb");
  EXPECT_EQ(v100.peak(Arithmetic::bf16), *v100.fp16);
  const Device& p40 = catalogue.device("p40");
  EXPECT_EQ(p40.peak(Arithmetic::fp16), *p40.fp32);  // its fp16 units run at 1/64 of fp32
  const Device& apple = catalogue.device("m2-ultra-192gb");
  EXPECT_EQ(apple.peak(Arithmetic::fp16), *apple.fp32);
}

}  // namespace
}  // namespace headroom
