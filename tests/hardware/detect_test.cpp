// Detection with documented, broken and missing tool output.
#include "hardware/detect.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hardware/machine.hpp"
#include "hardware/names.hpp"
#include "hardware/program.hpp"
#include "tests/support/folder.hpp"

namespace headroom {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
using Notes = std::vector<std::string>;

TEST(NvidiaSmi, DocumentedLines) {
  Notes notes;
  const auto cards = parse_nvidia_smi(
      "NVIDIA H100 80GB HBM3, 81559, 81078, 580.95.05, 5, 16, 9.0, 700.00\n"
      "NVIDIA GeForce RTX 4090, 24564, 24057, 550.163.01, 4, 16, 8.9, 450.00\n",
      notes);
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(cards[0].memory, 81559 * Bytes(mebibyte));
  EXPECT_EQ(cards[0].free, 81078 * Bytes(mebibyte));
  EXPECT_EQ(cards[0].driver, "580.95.05");
  EXPECT_EQ(cards[1].pcie_generation, 4);
  EXPECT_EQ(cards[1].pcie_lanes, 16);
  EXPECT_EQ(cards[1].compute_capability, (ComputeCapability{8, 9}));
  EXPECT_EQ(cards[1].power_w, 450);
  EXPECT_TRUE(notes.empty());
}

/// Used and free are less than the total by what the driver reserves (nvidia-smi -q of an A100).
TEST(NvidiaSmi, AProgramSeesWhatIsUsedOrFree) {
  Notes notes;
  const auto cards = parse_nvidia_smi(
      "NVIDIA A100-SXM4-80GB, 81920, 80730, 550.163.01, 4, 16, 8.0, 400.00, 427\n"
      "NVIDIA A100-SXM4-80GB, 81920, 80730, 550.163.01, 4, 16, 8.0, 400.00, 99999\n"
      "NVIDIA GB10, [N/A], [N/A], 580.95.05, 1, 1, 12.1, [Not Supported], [N/A]\n",
      notes);
  ASSERT_EQ(cards.size(), 3u);
  EXPECT_EQ(cards[0].visible, 81157 * Bytes(mebibyte));
  EXPECT_EQ(cards[1].visible, Bytes(0)) << "more than the card has";
  EXPECT_EQ(cards[2].visible, Bytes(0));
  EXPECT_TRUE(notes.empty());
}

TEST(NvidiaSmi, FieldsTheDriverDoesNotKnowStayEmpty) {
  Notes notes;
  const auto cards = parse_nvidia_smi(
      "NVIDIA GB10, [N/A], [N/A], 580.95.05, 1, 1, 12.1, [Not Supported]\r\n", notes);
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0].memory, Bytes(0));
  EXPECT_FALSE(cards[0].free.has_value());
  EXPECT_EQ(cards[0].power_w, 0);
}

TEST(NvidiaSmi, GarbageIsLeftOutAndDescribed) {
  for (const char* bad :
       {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "No devices were found", "Field \"compute_cap\" is not a valid field to query.",
        "NVIDIA T4, 15360", "NVIDIA T4, lots, 1, 1, 1, 1, 1, 1", "NVIDIA T4, -5, 1, 1, 1, 1, 1, 1",
        "NVIDIA T4, 99999999999, 1, 1, 1, 1, 1, 1", ", 15360, 1, 1, 1, 1, 1, 1"}) {
    Notes notes;
    EXPECT_TRUE(parse_nvidia_smi(bad, notes).empty()) << bad;
    EXPECT_EQ(notes.size(), 1u) << bad;
  }
  Notes notes;
  EXPECT_TRUE(parse_nvidia_smi("", notes).empty());
  EXPECT_TRUE(notes.empty());
  EXPECT_TRUE(parse_nvidia_smi("\x1b[2J\x80\na\nb\nc\nd\n", notes).empty());
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_EQ(notes[0], "nvidia-smi: not understood: '?[2J?'");
  EXPECT_EQ(notes[3], "nvidia-smi: 2 lines more are not understood");
}

TEST(NvidiaSmi, CudaVersionFromEitherBanner) {
  EXPECT_EQ(parse_cuda_version("| NVIDIA-SMI 550.163.01   Driver Version: 550.163.01     CUDA "
                               "Version: 12.4     |"),
            "12.4");
  EXPECT_EQ(parse_cuda_version("| NVIDIA-SMI 610.57.04  KMD Version: 610.57.04  CUDA UMD Version: "
                               "13.3     |"),
            "13.3");
  EXPECT_EQ(parse_cuda_version("CUDA Version: N/A"), "");
  EXPECT_EQ(parse_cuda_version(""), "");
}

TEST(RocmSmi, DocumentedOutput) {
  Notes notes;
  const auto cards = parse_rocm_smi(
      "============================ ROCm System Management Interface ====================\n"
      "Driver version: 6.10.5\n"
      "GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X\n"
      "GPU[0]\t\t: Card Model: \t\t0x74a1\n"
      "GPU[0]\t\t: VRAM Total Memory (B): 206141652992\n"
      "GPU[0]\t\t: VRAM Total Used Memory (B): 297771008\n"
      "GPU[1]\t\t: Card Series: \t\tN/A\n"
      "==================================== End of ROCm SMI Log =========================\n",
      notes);
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(cards[0].memory, Bytes(206141652992));
  EXPECT_EQ(cards[0].free, Bytes(206141652992 - 297771008));
  EXPECT_EQ(cards[0].driver, "6.10.5");
  EXPECT_EQ(notes.size(), 1u) << "GPU 1 has no name and no memory";
}

TEST(RocmSmi, GarbageIsNoCard) {
  Notes notes;
  EXPECT_TRUE(parse_rocm_smi("", notes).empty());
  EXPECT_TRUE(parse_rocm_smi("ERROR: GPU[0] : unable to open\nGPU[x] : a: b\nGPU[", notes).empty());
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// File names and value formats: Linux, Documentation/gpu/amdgpu/driver-misc.rst and
// Documentation/ABI/testing/sysfs-bus-pci.
TEST(Sys, CardsWhoseDriverSaysTheirMemory) {
  const test::Folder drm;
  write(drm / "card0/device/mem_info_vram_total", "68702699520\n");
  write(drm / "card0/device/mem_info_vram_used", "10993664\n");
  write(drm / "card0/device/product_name", "AMD Instinct MI210\n");
  write(drm / "card0/device/max_link_speed", "16.0 GT/s PCIe\n");
  write(drm / "card0/device/current_link_width", "16\n");
  write(drm / "card1/device/mem_info_vram_total", "25753026560\n");  // consumer cards have no name
  write(drm / "card1/device/device", "0x744c\n");
  write(drm / "card2/device/vendor", "0x8086\n");
  write(drm / "card0-DP-1/device/mem_info_vram_total", "1\n");
  write(drm / "card3/device/mem_info_vram_total", "lots\n");
  Notes notes;
  const auto cards = read_drm(drm, notes);
  ASSERT_EQ(cards.size(), 1u);
  EXPECT_EQ(cards[0].name, "AMD Instinct MI210");
  EXPECT_EQ(cards[0].memory, Bytes(68702699520));
  EXPECT_EQ(cards[0].free, Bytes(68702699520 - 10993664));
  EXPECT_EQ(cards[0].pcie_generation, 4);
  EXPECT_EQ(cards[0].pcie_lanes, 16);
  EXPECT_FALSE(cards[0].tried);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("0x744c"), std::string::npos);
  EXPECT_TRUE(read_drm(drm / "nowhere", notes).empty());
}

TEST(Sys, CardsWithoutADriverAreNamed) {
  const test::Folder devices;
  write(devices / "0000:01:00.0/class", "0x030000\n");
  write(devices / "0000:01:00.0/vendor", "0x10de\n");
  write(devices / "0000:01:00.0/device", "0x2684\n");
  write(devices / "0000:01:00.1/class", "0x040300\n");  // its audio device
  write(devices / "0000:01:00.1/vendor", "0x10de\n");
  write(devices / "0000:00:02.0/class", "0x030000\n");
  write(devices / "0000:00:02.0/vendor", "0x8086\n");
  Notes notes;
  note_pci_cards(devices, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("NVIDIA 0x2684 at 0000:01:00.0"), std::string::npos);
}

// Output as documented for sysctl(8) and vm_stat(1) of macOS.
TEST(Mac, ChipMemoryAndFreeMemory) {
  Detection found;
  parse_sysctl(
      "hw.memsize: 103079215104\nhw.physicalcpu: 12\n"
      "machdep.cpu.brand_string: Apple M2 Max\n",
      "Mach Virtual Memory Statistics: (page size of 16384 bytes)\n"
      "Pages free:                              1000000.\n"
      "Pages active:                            2000000.\n"
      "Pages inactive:                           500000.\n",
      found);
  ASSERT_EQ(found.cards.size(), 1u);
  EXPECT_EQ(found.cards[0].name, "M2 Max");
  EXPECT_EQ(found.ram, Bytes(std::int64_t{96} << 30));
  EXPECT_EQ(found.ram_available, Bytes(std::int64_t{1500000} * 16384));
  EXPECT_EQ(found.cores, 12);
  const Machine machine = local_machine(found, shipped_catalogue());
  EXPECT_EQ(machine.devices.at(0).name, "m2-max-96gb");
  EXPECT_EQ(machine.host.ram, Bytes(std::int64_t{96} << 30));
  EXPECT_EQ(machine.host.ram_bandwidth, 0.6 * machine.devices[0].bandwidth);
  Detection other;
  parse_sysctl("hw.memsize: 17179869184\nmachdep.cpu.brand_string: Intel(R) Core(TM) i7\n", "",
               other);
  parse_sysctl("sysctl: unknown oid\n", "garbage", other);
  EXPECT_TRUE(other.cards.empty());
}

TEST(Kernel, Meminfo) {
  const std::string text =
      "MemTotal:       24684084 kB\nMemFree:        19554496 kB\n"
      "MemAvailable:   23955056 kB\nHugePages_Total:       0\n";
  EXPECT_EQ(parse_meminfo(text, "MemTotal"), 24684084 * Bytes(1024));
  EXPECT_EQ(parse_meminfo(text, "MemAvailable"), 23955056 * Bytes(1024));
  EXPECT_FALSE(parse_meminfo(text, "Mem"));
  EXPECT_FALSE(parse_meminfo(text, "HugePages_Total")) << "a count, not KiB";
  EXPECT_FALSE(parse_meminfo("MemTotal: lots kB", "MemTotal"));
  EXPECT_FALSE(parse_meminfo("", "MemTotal"));
}

TEST(Kernel, ControlGroups) {
  EXPECT_EQ(parse_memory_limit("17179869184\n"), Bytes(std::int64_t{16} << 30));
  EXPECT_FALSE(parse_memory_limit("max\n"));
  EXPECT_FALSE(parse_memory_limit("9223372036854771712\n")) << "version 1's way of saying none";
  EXPECT_FALSE(parse_memory_limit(""));
  EXPECT_EQ(parse_cpu_limit("200000 100000\n"), 2);
  EXPECT_EQ(parse_cpu_limit("50000 100000\n"), 1);
  EXPECT_FALSE(parse_cpu_limit("max 100000\n"));
  EXPECT_FALSE(parse_cpu_limit("100000 0\n"));
  EXPECT_EQ(parse_cgroup_path("1:name=systemd:/x\n0::/user.slice/a.scope\n"),
            "/user.slice/a.scope");
  EXPECT_EQ(parse_cgroup_path("12:memory:/docker/1\n"), "");
}

TEST(Kernel, Processors) {
  const std::string two_threads_each =
      "processor\t: 0\nmodel name\t: AMD EPYC 7742\nphysical id\t: 0\ncore id\t\t: 0\n\n"
      "processor\t: 1\nmodel name\t: AMD EPYC 7742\nphysical id\t: 0\ncore id\t\t: 1\n\n"
      "processor\t: 2\nphysical id\t: 0\ncore id\t\t: 0\n\n"
      "processor\t: 3\nphysical id\t: 1\ncore id\t\t: 0\n";
  EXPECT_EQ(parse_core_count(two_threads_each), 3);
  EXPECT_EQ(parse_cpu_name(two_threads_each), "AMD EPYC 7742");
  EXPECT_EQ(parse_core_count("processor\t: 0\nprocessor\t: 1\n"), 2) << "Arm names no cores";
  EXPECT_EQ(parse_core_count(""), 1);
}

TEST(Detect, CountsMemoryNodes) {
  EXPECT_EQ(parse_node_count("0\n"), 1);
  EXPECT_EQ(parse_node_count("0-1\n"), 2);
  EXPECT_EQ(parse_node_count("0,2-3\n"), 3);
  for (const char* senseless : {"", "3-1", "0-", "x", "0-99999999"})
    EXPECT_EQ(parse_node_count(senseless), 1) << senseless;
}

TEST(Program, OutputExitCodeAndTimeLimit) {
  using Outcome = ProgramResult::Outcome;
  const ProgramResult echo = run_program({"echo", "a b"}, std::chrono::seconds(10));
  EXPECT_EQ(echo.outcome, Outcome::finished);
  EXPECT_EQ(echo.output, "a b\n");
  EXPECT_EQ(run_program({"false"}, std::chrono::seconds(10)).exit_code, 1);
  EXPECT_EQ(run_program({"no-such-program-anywhere"}, std::chrono::seconds(1)).outcome,
            Outcome::not_found);
  EXPECT_EQ(run_program({"sleep", "600"}, std::chrono::milliseconds(50)).outcome,
            Outcome::timed_out);
  EXPECT_EQ(run_program({}, std::chrono::seconds(1)).outcome, Outcome::failed);
  const ProgramResult endless = run_program({"yes"}, std::chrono::seconds(10));
  EXPECT_EQ(endless.outcome, Outcome::timed_out);
  EXPECT_LT(endless.output.size(), 2u << 20);
}

TEST(Detect, FindsTheComputerThatRunsTheTests) {
  const Detection found = detect();
  EXPECT_GT(found.ram.count(), 0);
  EXPECT_GE(found.ram, found.ram_available);
  EXPECT_GE(found.cores, 1);
  EXPECT_GT(found.disk_free.count(), 0);
  EXPECT_TRUE(!found.cards.empty() || !found.notes.empty());
}

}  // namespace
}  // namespace headroom
