// Device maps against the ones that accelerate 1.15.0 made, with transformers 5.23.0 (GPT-J:
// 5.24.0): every recorded map, compared as unordered maps, and accelerate's own crashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "archive.hpp"
#include "hardware/embedded.hpp"
#include "model/describe/architecture.hpp"
#include "model/infer/placement/mapper.hpp"
#include "reference.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

std::vector<json::object> rows_of(const std::string& file) {
  std::istringstream lines(
      oracle::read_gzip(oracle::data_path("placements/" + file + ".jsonl.gz")));
  std::vector<json::object> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line).as_object());
  return rows;
}

/// The description of a catalogue model as transformers 5 builds it.
const Part* part_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Part>> built;
  const auto [it, fresh] = built.try_emplace(name);
  if (!fresh) return it->second.get();
  for (const EmbeddedFile& file : embedded_models())
    if (file.name == name + ".json") try {
        it->second = std::make_unique<Part>(describe(parse_config(file.bytes, name)));
      } catch (const ConfigError&) {
        return nullptr;
      }
  return it->second.get();
}

/// "llama": the catalogue's word for the family of a model.
std::string family_of(const std::string& name) {
  static std::map<std::string, std::string> known;
  auto& family = known[name];
  if (family.empty())
    for (const EmbeddedFile& file : embedded_models())
      if (file.name == name + ".json") {
        const json::value config = json::parse(file.bytes);
        const json::value* type = config.as_object().if_contains("model_type");
        family = type != nullptr ? oracle::text_of(*type) : name;
      }
  return family;
}

std::vector<std::string> strings(const json::value& list) {
  std::vector<std::string> all;
  if (list.is_array())
    for (const json::value& v : list.as_array()) all.push_back(oracle::text_of(v));
  return all;
}

MaxMemory memory_of(const json::object& max_memory) {
  std::vector<std::string> entries;
  for (const auto& [device, limit] : max_memory)
    entries.push_back(fmt::format(
        "{}={}", std::string(device),
        limit.is_string() ? oracle::text_of(limit) : std::to_string(limit.to_number<Size>())));
  return parse_max_memory(entries);
}

std::map<std::string, std::string> map_of(const json::object& device_map) {
  std::map<std::string, std::string> map;
  for (const auto& [path, device] : device_map)
    map[std::string(path)] =
        device.is_string() ? oracle::text_of(device) : std::to_string(device.as_int64());
  return map;
}

/// One recorded call.
struct Call {
  const Part* part;
  std::optional<MapperDtype> dtype;
  Eighths held_element = 32;
  Policy policy = Policy::plain;
  MapOptions options;
};

/// The row's call: named keys in the first two files, `args` in the third, transformers' variants
/// in the fourth.
Call call_of(const json::object& row) {
  Call call{.part = part_of(oracle::text_of(row.at("model"))), .dtype = {}, .options = {}};
  const std::string variant = oracle::text_of(row.at("variant"));
  if (variant.starts_with("transformers")) {
    call.held_element = 16;
    call.options.mapper = Mapper::transformers;
    call.options.no_split = call.part->no_split;
  } else if (row.contains("args")) {
    const json::object& args = row.at("args").as_object();
    if (args.contains("dtype")) call.dtype = mapper_dtype(oracle::text_of(args.at("dtype")));
    call.options.no_split = strings(args.at("no_split_module_classes"));
    if (args.contains("fallback_allocation")) call.options.fallback = Fallback::yes;
    if (args.contains("clean_result")) call.options.clean = Clean::no;
  } else {
    call.dtype = mapper_dtype(oracle::text_of(row.at("dtype")));
    call.options.no_split = strings(row.at("no_split"));
  }
  if (variant.ends_with("balanced") || variant.ends_with("auto")) call.policy = Policy::balanced;
  if (variant.ends_with("balanced_low_0")) call.policy = Policy::balanced_low_0;
  return call;
}

/// Compares recorded rows of one file with our maps.
class RecordedMaps {
 public:
  void compare(const json::object& row) {
    const std::string model = oracle::text_of(row.at("model"));
    if (part_of(model) == nullptr) {
      ++undescribed;
      return;
    }
    const Call call = call_of(row);
    const bool transformers = call.options.mapper == Mapper::transformers;
    const ModuleTree tree(*call.part, call.dtype, call.held_element,
                          transformers ? Counting::transformers : Counting::accelerate);
    const MaxMemory memory = balanced_memory(tree, memory_of(row.at("max_memory").as_object()),
                                             call.policy, call.options);
    if (row.contains("balanced_memory")) compare_budgets(row, memory);
    if (row.contains("exception")) return expect_crash(row, tree, memory, call);
    if (!row.contains("device_map")) return;
    ++compared;
    Count& family = families[family_of(model)];
    ++family.compared;
    try {
      family.equal += compare_map(row, infer_device_map(tree, memory, call.options)) ? 1 : 0;
    } catch (const AccelerateFails& failure) {
      mismatch(row, failure.what());
    }
  }
  std::string by_family() const {
    std::string text;
    for (const auto& [name, count] : families)
      text +=
          fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", name, count.equal, count.compared);
    return text;
  }

  std::size_t compared = 0, budgets = 0, crashes = 0, undescribed = 0, mismatches = 0;

 private:
  struct Count {
    std::size_t compared = 0, equal = 0;
  };

  void mismatch(const json::object& row, const std::string& what) {
    if (++mismatches <= 10)
      ADD_FAILURE() << oracle::text_of(row.at("model")) << ' ' << oracle::text_of(row.at("variant"))
                    << ' ' << oracle::text_of(row.at("budget")) << ": " << what;
  }

  void compare_budgets(const json::object& row, const MaxMemory& memory) {
    ++budgets;
    for (const auto& [device, limit] : row.at("balanced_memory").as_object())
      for (const DeviceMemory& ours : memory)
        if (ours.device == std::string(device) &&
            static_cast<double>(ours.limit) / 8.0 != limit.to_number<double>())
          mismatch(row, fmt::format("balanced memory of {}: ours {}, reference {}", ours.device,
                                    ours.limit / 8, limit.to_number<double>()));
  }

  void expect_crash(const json::object& row, const ModuleTree& tree, const MaxMemory& memory,
                    const Call& call) {
    ++crashes;
    try {
      (void)infer_device_map(tree, memory, call.options);
      mismatch(row, "accelerate crashes here, we do not");
    } catch (const AccelerateFails&) {
    }
  }

  bool compare_map(const json::object& row, const auto& map) {
    std::map<std::string, std::string> ours;
    for (const auto& [path, device] : map) ours[path] = device;
    const auto theirs = map_of(row.at("device_map").as_object());
    if (ours == theirs) return true;
    std::string first = "entries differ";
    for (const auto& [path, device] : theirs)
      if (!ours.contains(path) || ours.at(path) != device) {
        first = fmt::format("'{}': ours {}, reference {} ({} and {} entries)", path,
                            ours.contains(path) ? ours.at(path) : "absent", device, ours.size(),
                            theirs.size());
        break;
      }
    mismatch(row, first);
    return false;
  }

  std::map<std::string, Count> families;
};

/// Recorded maps that only say what balancing changed are completed by the map of `plain`.
class Placements : public testing::TestWithParam<const char*> {};

TEST_P(Placements, EqualTheRecordedMaps) {
  RecordedMaps maps;
  for (const json::object& row : rows_of(GetParam())) maps.compare(row);
  fmt::print("{}: {} maps, {} balanced budgets and {} crashes compared, {} mismatches\n",
             GetParam(), maps.compared, maps.budgets, maps.crashes, maps.mismatches);
  fmt::print("  equal by family: {}\n", maps.by_family());
  EXPECT_EQ(maps.undescribed, 0U);
  EXPECT_EQ(maps.mismatches, 0U);
  EXPECT_GT(maps.compared, 100U);
}

INSTANTIATE_TEST_SUITE_P(Oracle, Placements,
                         testing::Values("placements", "placements_edge", "placements_extra",
                                         "placements_transformers_auto",
                                         "placements_transformers_random"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace headroom::model
