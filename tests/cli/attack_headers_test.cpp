// Checkpoints that lie: headers that announce more than there is, paths that lead elsewhere, depth
// without end. The program says what is wrong within little memory and time.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "bounded_process.hpp"
#include "mutation.hpp"
#include "tests/support/folder.hpp"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

/// `value` as the formats store it.
template <class Integer>
std::string little_endian(Integer value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return bytes;
}
std::string u32(std::uint32_t value) { return little_endian(value); }
std::string u64(std::uint64_t value) { return little_endian(value); }
std::string gguf_text(const std::string& text) { return u64(text.size()) + text; }
std::string gguf(std::uint64_t tensors, std::uint64_t keys, const std::string& rest) {
  return "GGUF" + u32(3) + u64(tensors) + u64(keys) + rest;
}
std::string safetensors(const std::string& header) { return u64(header.size()) + header; }

class AttackHeaders : public testing::Test {
 protected:
  /// The answer of `headroom params FILE` within 512 MiB.
  Ended ask(const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return run_bounded({"params", "./" + name}, folder, {.memory = 512 << 20});
  }
  void refused(const std::string& name, const std::string& content, const std::string& words) {
    const Ended ended = ask(name, content);
    EXPECT_EQ(ended.code, 1) << ended.out;
    EXPECT_EQ(fault(ended), "") << ended.err.substr(0, 500);
    EXPECT_NE(ended.err.find(name), std::string::npos) << ended.err.substr(0, 500);
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err.substr(0, 500);
    EXPECT_LT(ended.err.size(), 2000U) << "a message that is read";
  }
  const Folder temporary;
  const fs::path folder = temporary.path();
};

TEST_F(AttackHeaders, LengthsOfSafetensorsBeyondTheFile) {
  for (const std::uint64_t length : {9ULL, 1ULL << 20, 1ULL << 32, 1ULL << 62, ~0ULL})
    refused("a.safetensors", u64(length) + "{}", "header");
}

TEST_F(AttackHeaders, OffsetsAndShapesOfSafetensorsThatOverflow) {
  for (
      const char* tensor :
      {R"({"a":{"dtype":"F32","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4]}})",
       R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551615,3]}})",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
       R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,9223372036854775807]}})",
       R"({"a":{"dtype":"F32","shape":[1e300],"data_offsets":[0,4]}})"})
    refused("a.safetensors", safetensors(tensor), "a");
}

TEST_F(AttackHeaders, DepthWithoutEnd) {
  std::string deep;
  deep.resize(20'000'000, '[');
  refused("a.safetensors", safetensors(deep), "");
  refused("model.safetensors.index.json", deep, "");
  fs::create_directories(folder / "deep");
  std::ofstream(folder / "deep" / "config.json") << deep;
  const Ended ended = run_bounded({"params", "./deep"}, folder, {.memory = 512 << 20});
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_EQ(fault(ended), "") << ended.err.substr(0, 500);
}

TEST_F(AttackHeaders, AHeaderOfZerosThatTakesNoDisk) {
  // A sparse file: 300 MB that announce themselves as header. The format allows 100 MB.
  std::ofstream(folder / "a.safetensors", std::ios::binary) << u64(300'000'000) << '{';
  fs::resize_file(folder / "a.safetensors", 300'000'008);
  const Ended ended = run_bounded({"params", "./a.safetensors"}, folder, {.memory = 512 << 20});
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_EQ(fault(ended), "") << ended.err;
}

TEST_F(AttackHeaders, CountsAndLengthsOfGgufBeyondTheFile) {
  const std::string architecture = gguf_text("general.architecture") + u32(8) + gguf_text("llama");
  const std::string array = gguf_text("tokenizer.ggml.tokens") + u32(9);
  for (const std::uint64_t many : {1ULL << 20, 1ULL << 40, 1ULL << 62, ~0ULL}) {
    refused("a.gguf", gguf(many, 0, ""), "");
    refused("a.gguf", gguf(0, many, ""), "");
    refused("a.gguf", gguf(0, 1, u64(many) + "key"), "");
    refused("a.gguf", gguf(0, 1, gguf_text("key") + u32(8) + u64(many) + "text"), "");
    refused("a.gguf", gguf(0, 2, architecture + array + u32(8) + u64(many)), "");
    refused("a.gguf", gguf(0, 2, architecture + array + u32(0) + u64(many)), "");
    refused("a.gguf",
            gguf(1, 1,
                 architecture + gguf_text("w") + u32(2) + u64(many) + u64(many) + u32(0) + u64(0)),
            "");
  }
  refused("a.gguf", gguf(1, 1, architecture + gguf_text("w") + u32(4'000'000'000U)), "");
}

TEST_F(AttackHeaders, ArraysOfGgufInsideArrays) {
  std::string nested;
  for (int i = 0; i < 200'000; ++i) nested += u32(9) + u64(1);
  refused("a.gguf", gguf(0, 1, gguf_text("deep") + u32(9) + nested), "");
}

TEST_F(AttackHeaders, AnIndexThatLeadsOutOfItsFolder) {
  const std::string secret =
      safetensors(R"({"secret":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})") + "abcd"s;
  fs::create_directories(folder / "model" / "below");
  for (const fs::path& path :
       {folder / "secret.safetensors", folder / "model" / "below" / "secret.safetensors"})
    std::ofstream(path, std::ios::binary) << secret;
  for (const std::string& shard :
       {"../secret.safetensors"s, "below/../../secret.safetensors"s, "./../secret.safetensors"s,
        (folder / "secret.safetensors").string(), "..\\secret.safetensors"s, ".."s, "."s, "../"s,
        "secret.safetensors\\u0000.safetensors"s, "/dev/zero"s}) {
    std::string written;
    for (const char c : shard)
      written += c == '\\' && shard[0] == '.' ? "\\\\"s : std::string(1, c);
    std::ofstream(folder / "model" / "model.safetensors.index.json")
        << R"({"weight_map":{"secret":")" << written << "\"}}";
    for (const char* asked : {"./model", "./model/model.safetensors.index.json"}) {
      const Ended ended = run_bounded({"params", asked}, folder, {.memory = 512 << 20});
      EXPECT_EQ(ended.code, 1) << shard << ended.out;
      EXPECT_EQ(fault(ended), "") << shard << ended.err;
      EXPECT_EQ(ended.out.find("secret"), std::string::npos) << shard;
    }
  }
}

TEST_F(AttackHeaders, FilesThatNeverEnd) {
  for (const char* name : {"a.safetensors", "a.gguf", "model.safetensors.index.json"}) {
    fs::remove(folder / name);
    fs::create_symlink("/dev/zero", folder / name);
    const Ended ended =
        run_bounded({"params", std::string("./") + name}, folder, {.memory = 512 << 20});
    EXPECT_EQ(ended.code, 1) << name << ended.out;
    EXPECT_EQ(fault(ended), "") << name << ended.err;
  }
}

/// Every option that reads a text file, of a file without end.
TEST_F(AttackHeaders, TextsThatNeverEnd) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sweep", "/dev/zero"},
        {"estimate", "gpt2", "--machine", "rtx-4090", "--hardware", "/dev/zero"},
        {"estimate", "gpt2", "--machine", "rtx-4090", "--prices", "/dev/zero"},
        {"estimate", "gpt2", "--machine", "rtx-4090", "--engines", "/dev/zero"},
        {"estimate", "gpt2", "--machine", "rtx-4090", "--factors", "/dev/zero"},
        {"estimate", "gpt2", "--task", "training", "--machine", "rtx-4090", "--from", "/dev/zero"},
        {"plan", "portfolio", "/dev/zero"},
        {"calibrate", "/dev/zero", "--machine", "rtx-4090"},
        {"accuracy", "/dev/zero"},
        {"report", "/dev/zero"}}) {
    const Ended ended = run_bounded(command, folder, {.memory = 1 << 30});
    EXPECT_TRUE(ended.code == 1 || ended.code == 2) << command[0] << ended.code << ended.out;
    EXPECT_EQ(fault(ended), "") << command[0] << ' ' << command.back() << ": " << ended.err;
  }
}

/// Checkpoints of the tests with changed bytes in one file.
class AttackCheckpoints : public AttackHeaders {
 protected:
  void attack(unsigned first, unsigned count) {
    const fs::path from = source_path("tests/cli/data/checkpoints");
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(from))
      if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), from));
    std::ranges::sort(files);
    fs::copy(from, folder / "checkpoints", fs::copy_options::recursive);
    fs::rename(folder / "checkpoints/qwen3.gguf-header", folder / "checkpoints/qwen3.gguf");
    std::map<int, int> codes;
    for (unsigned number = first; number < first + count; ++number) {
      const fs::path& file = files[number % files.size()];
      const bool is_gguf = !file.has_parent_path();
      const fs::path to = folder / "checkpoints" / (is_gguf ? "qwen3.gguf" : file);
      const std::string content = headroom::read_text_file(from / file);
      std::ofstream(to, std::ios::binary) << Mutation::bytes(content, number);
      const std::string model = "checkpoints" / (is_gguf ? "qwen3.gguf" : file.parent_path());
      const Ended ended =
          number % 2 == 0
              ? run_bounded({"params", "./" + model}, folder)
              : run_bounded({"estimate", "./" + model, "--machine", "rtx-4090"}, folder);
      std::ofstream(to, std::ios::binary) << content;
      ++codes[ended.code];
      EXPECT_EQ(fault(ended), "") << file << " of number " << number << ": "
                                  << ended.err.substr(0, 500);
    }
    for (const auto& [code, times] : codes) std::printf("exit code %d: %d times\n", code, times);
  }
};
class LongAttackCheckpoints : public AttackCheckpoints {};
TEST_F(AttackCheckpoints, EndWithAMessage) { attack(0, 200 / stride); }
TEST_F(LongAttackCheckpoints, EndWithAMessage) { attack(1000, tries()); }

}  // namespace
}  // namespace headroom::test
