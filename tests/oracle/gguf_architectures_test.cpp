// The architectures of llama.cpp (LLM_ARCH_NAMES of src/llama-arch.cpp, from the source
// distribution of llama-cpp-python 0.3.36), one row a name: described by a class, or refused and
// why. Headers hold the tensors that llama.cpp's loader wants of each
// (tests/oracle/make_loaded.py), or those that its converter writes
// (tests/oracle/make_checkpoints.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "archive.hpp"
#include "csv.hpp"
#include "gguf_model.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/describe/architecture.hpp"

namespace headroom::oracle {
namespace {

const std::vector<Row>& table() {
  static const std::vector<Row> rows = read_csv("llama_cpp_architectures.csv");
  return rows;
}

bool is_described(const Row& row) { return row.at("state") == "described"; }

/// Headers by name of file.
std::vector<std::pair<std::string, model::GgufHeader>> headers(const std::string& archive) {
  std::vector<std::pair<std::string, model::GgufHeader>> all;
  for (const auto& [file, bytes] : read_files(archive)) {
    if (!file.ends_with(".gguf")) continue;
    auto header = model::parse_gguf(bytes, -1, file);
    EXPECT_TRUE(header) << file;
    if (header) all.emplace_back(file, std::move(*header));
  }
  return all;
}

TEST(GgufArchitectures, TheTableIsTheProgramsOwn) {
  std::set<std::string> in_program, in_table, names;
  for (const auto& row : model::gguf_architectures())
    in_program.insert(std::string(row.name) + ' ' + std::string(row.class_name));
  for (const Row& row : table()) {
    EXPECT_TRUE(names.insert(row.at("architecture")).second) << row.at("architecture");
    EXPECT_TRUE(is_described(row) || row.at("state") == "refused") << row.at("state");
    EXPECT_NE(is_described(row), row.at("classes").empty()) << row.at("architecture");
    EXPECT_NE(is_described(row), !row.at("reason").empty()) << row.at("architecture");
    for (const auto one : words(row.at("classes")))
      in_table.insert(row.at("architecture") + ' ' + std::string(one));
  }
  EXPECT_EQ(in_program, in_table);
  EXPECT_EQ(names.size(), 153u);
  const auto described = std::ranges::count_if(table(), is_described);
  std::printf("%ld of %zu architectures are described\n", static_cast<long>(described),
              names.size());
  EXPECT_GE(described, 147);
}

/// A described architecture reads every tensor of its header, and misses none. A refused one says
/// so.
TEST(GgufArchitectures, HeadersOfTheLoaderAreReadAsTheTableSays) {
  Size read = 0;
  for (const auto& [file, header] : headers("gguf_loaded")) {
    SCOPED_TRACE(file);
    const std::string name = header.text("general.architecture");
    const auto row =
        std::ranges::find_if(table(), [&](const Row& r) { return r.at("architecture") == name; });
    ASSERT_NE(row, table().end());
    if (!is_described(*row)) {
      EXPECT_THROW(model::gguf_config(header, header.list), model::NotDescribed);
      continue;
    }
    const auto model = model_of_header(file, header);
    const auto& found = model.stored->comparison.differences;
    EXPECT_TRUE(found.empty()) << found.size() << ", first " << name_of(found.front().kind) << ' '
                               << found.front().name << ' ' << found.front().text;
    ++read;
  }
  EXPECT_GE(read, 136);
}

/// Every described architecture has a header of one kind or the other.
TEST(GgufArchitectures, DescribedOnesAreCheckedWithAHeader) {
  std::set<std::string> checked;
  for (const std::string archive : {"gguf_loaded", "gguf"})
    for (const auto& [file, header] : headers(archive))
      checked.insert(header.text("general.architecture"));
  for (const Row& row : table())
    if (is_described(row)) {
      EXPECT_TRUE(checked.contains(row.at("architecture"))) << row.at("architecture");
    }
}

}  // namespace
}  // namespace headroom::oracle
