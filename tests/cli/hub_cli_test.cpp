// The program against a hub on this computer, through the environment that users set.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "hardware/embedded.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/loopback_hub.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/unbroken.hpp"

namespace {

namespace fs = std::filesystem;
using headroom::test::HubRepository;
using headroom::test::LoopbackHub;

class HubCli : public testing::Test {
 protected:
  HubCli() {
    for (const auto& file : headroom::embedded_models())
      if (file.name == "microsoft__phi-2.json")
        hub.repositories["someone/phi"] = {.files = {{"config.json", std::string(file.bytes)}}};
    hub.repositories["closed/phi"] = hub.repositories["someone/phi"];
    hub.repositories["closed/phi"].access = HubRepository::Access::gated;
    std::ofstream(folder / "spec.toml")
        << "[run]\nname = 'far'\n[report]\nplots = false\n[[grid]]\nmodels = ['closed/phi@main']\n"
           "machines = ['rtx-4090']\nprecisions = ['fp16']\n";
  }

  /// Runs the program in `folder` with the hub's variables and no others of the kind.
  int run(const std::string& arguments, const std::string& variables = {}) {
    const std::string call =
        "cd " + folder.string() + " && env -i PATH=\"$PATH\" HOME=" + folder.string() +
        " HF_ENDPOINT=" + hub.endpoint() + ' ' + variables + ' ' + headroom::test::program_path() +
        ' ' + arguments + " >.out 2>.err </dev/null";
    const int status = std::system(call.c_str());
    out = headroom::read_text_file(folder / ".out");
    err = headroom::read_text_file(folder / ".err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Files below `folder` that hold `text`.
  std::vector<std::string> holding(const std::string& text) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file() &&
          headroom::read_text_file(entry.path()).find(text) != std::string::npos)
        found.push_back(fs::relative(entry.path(), folder).string());
    return found;
  }
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();
  LoopbackHub hub;
  std::string out, err;
};

#define EXPECT_SAYS(text, fragment)                                           \
  EXPECT_NE(headroom::test::unbroken(text).find(fragment), std::string::npos) \
      << (text) << "\nlacks: " << (fragment)

TEST_F(HubCli, CountsAModel) {
  EXPECT_EQ(run("params someone/phi"), 0) << err;
  EXPECT_SAYS(out, "2,779,683,840");
  EXPECT_SAYS(out, "source: hub 127.0.0.1");
  EXPECT_SAYS(out, "commit 1111111111111111111111111111111111111111, fetched");
  EXPECT_EQ(err, "");
  EXPECT_EQ(run("params someone/phi"), 0) << err;
  EXPECT_SAYS(out, "unchanged");
  const auto asked = hub.asked().size();
  EXPECT_EQ(run("params someone/phi --offline --format json"), 0) << err;
  EXPECT_SAYS(out, "\"parameters\": 2779683840");
  EXPECT_SAYS(out, "not checked since: offline by --offline");
  EXPECT_EQ(run("params someone/phi", "HF_HUB_OFFLINE=1"), 0) << err;
  EXPECT_EQ(run("params microsoft/phi-2"), 0) << err;
  EXPECT_EQ(hub.asked().size(), asked);
  EXPECT_TRUE(fs::is_directory(folder / ".cache/headroom/hub"));
}

TEST_F(HubCli, AnUnchangedNightAsksTheHubOnce) {
  std::ofstream(folder / "near.toml") << "[report]\nplots = false\n[[grid]]\nmodels = "
                                         "['someone/phi']\nmachines = ['rtx-4090']\n";
  const auto requests_of_a_night = [&] {
    const auto before = hub.asked().size();
    EXPECT_EQ(run("sweep near.toml"), 0) << err;
    return hub.asked().size() - before;
  };
  requests_of_a_night();
  const auto checked = requests_of_a_night();
  EXPECT_EQ(out.find("nothing changed"), std::string::npos) << "fetched before, checked now";
  EXPECT_EQ(requests_of_a_night(), checked);
  EXPECT_SAYS(out, "nothing changed since run 2");
  hub.repositories["someone/phi"].commit = std::string(40, '2');
  requests_of_a_night();
  EXPECT_EQ(out.find("nothing changed"), std::string::npos) << "another commit is shown";
  auto& config_text = hub.repositories["someone/phi"].files["config.json"];
  config_text.replace(config_text.find("\"num_hidden_layers\": 32"), 23,
                      "\"num_hidden_layers\": 31");
  requests_of_a_night();
  EXPECT_EQ(out.find("reused"), std::string::npos) << out;
}

TEST_F(HubCli, EveryCommandTakesThem) {
  EXPECT_EQ(run("estimate someone/phi --machine rtx-4090 --details"), 0) << err;
  EXPECT_SAYS(out, "someone/phi, revision main, commit 1111");
  EXPECT_EQ(run("place someone/phi --max-memory 0=4GiB cpu=30GiB"), 0) << err;
  EXPECT_EQ(run("models show someone/phi"), 0) << err;
  EXPECT_EQ(run("models lint someone/phi"), 0) << err;
}

TEST_F(HubCli, GatedModelsSayWhatToDo) {
  EXPECT_EQ(run("params closed/phi"), 1);
  EXPECT_SAYS(err, "gated: accept its conditions at " + hub.endpoint() + "/closed/phi");
  EXPECT_EQ(out, "");
  EXPECT_EQ(run("params someon/phi"), 2);
  EXPECT_SAYS(err, "nearest:");
  EXPECT_EQ(run("params someone/phi@v2"), 1);
  EXPECT_SAYS(err, "no revision 'v2'");
}

TEST_F(HubCli, TokensFromEverywhereAndNeverShown) {
  const std::string token = LoopbackHub::good_token;
  for (const std::string flag : {"--hub-token", "--token", "--hf-token"})
    EXPECT_EQ(run("params closed/phi " + flag + ' ' + token), 0) << err;
  EXPECT_EQ(run("params closed/phi", "HF_TOKEN=" + token), 0) << err;
  EXPECT_EQ(run("params closed/phi", "HUGGING_FACE_HUB_TOKEN=" + token), 0) << err;
  fs::create_directories(folder / "secrets");
  std::ofstream(folder / "secrets" / "token") << token << '\n';
  EXPECT_EQ(run("params closed/phi", "HF_TOKEN_PATH=secrets/token"), 0) << err;
  EXPECT_EQ(run("params closed/phi", "HF_HOME=secrets"), 0) << err;
  EXPECT_EQ(run("params closed/phi", "HF_HOME=secrets HF_HUB_DISABLE_IMPLICIT_TOKEN=1"), 1);
  fs::remove_all(folder / "secrets");

  // A whole sweep: nothing that it writes holds the token, the spec's text neither.
  EXPECT_EQ(run("sweep spec.toml --out far", "HF_TOKEN=" + token), 0) << err;
  EXPECT_TRUE(fs::exists(folder / "far" / "results.sqlite"));
  EXPECT_SAYS(headroom::read_text_file(folder / "far" / "README.md"),
              "closed/phi, revision main, commit 1111");
  EXPECT_SAYS(headroom::read_text_file(folder / "far" / "results.sqlite"),
              "closed/phi, revision main, commit 1111");
  EXPECT_EQ(holding(token), std::vector<std::string>{});
  EXPECT_EQ(run("sweep spec.toml --out again --hub-token " + token), 0) << err;
  EXPECT_EQ(holding(token), std::vector<std::string>{});
  // Error messages do not contain the token.
  for (const std::string wrong :
       {"params closed/phi@v2", "params closed/none", "params closed/phi?no_such_key=3",
        "params closed/phi --format nonsense", "params closed/phi --machine x", "sweep none.toml",
        "params closed/phi --token again"}) {
    EXPECT_NE(run(wrong + " --hub-token " + token), 0) << wrong;
    EXPECT_EQ(holding(token), std::vector<std::string>{}) << wrong;
    EXPECT_NE(run(wrong, "HF_TOKEN=" + token), 0) << wrong;
    EXPECT_EQ(holding(token), std::vector<std::string>{}) << wrong;
  }
  EXPECT_EQ(run("doctor", "HF_TOKEN=" + token), 0) << err;
  EXPECT_SAYS(out, "HF_TOKEN");
  EXPECT_EQ(holding(token), std::vector<std::string>{});
}

TEST_F(HubCli, TokensForThisComputerGoToNoProxy) {
  LoopbackHub proxy;
  const std::string through = "http_proxy=" + proxy.endpoint() + " ALL_PROXY=" + proxy.endpoint();
  EXPECT_EQ(run("params closed/phi", through + " HF_TOKEN=" + LoopbackHub::good_token), 0) << err;
  EXPECT_TRUE(proxy.asked().empty());
}

/// A safetensors file of one bf16 tensor.
std::string shard(const std::string& name, std::size_t rows, std::size_t columns) {
  const std::size_t bytes = 2 * rows * columns;
  const std::string header = "{\"" + name + "\":{\"dtype\":\"BF16\",\"shape\":[" +
                             std::to_string(rows) + ',' + std::to_string(columns) +
                             "],\"data_offsets\":[0," + std::to_string(bytes) + "]}}";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  return file + header + std::string(bytes, 'w');
}

TEST_F(HubCli, TensorsByTheirHeadersAlone) {
  auto& files = hub.repositories["someone/new"].files;
  files["config.json"] = "{\"architectures\":[\"NobodyKnowsForCausalLM\"],\"model_type\":\"x\"}";
  files["model-00001-of-00002.safetensors"] = shard("a.weight", 2000, 1000);
  files["model-00002-of-00002.safetensors"] = shard("b.weight", 3000, 1000);
  files["model.safetensors.index.json"] =
      "{\"weight_map\":{\"a.weight\":\"model-00001-of-00002.safetensors\","
      "\"b.weight\":\"model-00002-of-00002.safetensors\"}}";
  EXPECT_EQ(run("params someone/new"), 0) << err;
  EXPECT_SAYS(out, "5,000,000");
  EXPECT_SAYS(out, "revision main, commit 1111");
  EXPECT_LT(hub.sent(), 500'000) << "of 10 MB";
  for (const auto& asked : hub.asked())
    EXPECT_EQ(asked.range.empty(), !asked.path.ends_with(".safetensors")) << asked.path;
  const auto asked = hub.asked().size();
  EXPECT_EQ(run("params someone/new --offline"), 0) << err;
  EXPECT_SAYS(out, "5,000,000");
  EXPECT_EQ(hub.asked().size(), asked);
  EXPECT_EQ(run("estimate someone/new --machine rtx-4090 --offline"), 1);
  EXPECT_SAYS(err, "NobodyKnowsForCausalLM");
  // A header longer than its file, and a shard that is not there.
  files["model-00001-of-00002.safetensors"] = std::string("\xff\xff\xff\xff\0\0\0\0", 8) + "{}";
  hub.repositories["someone/new"].commit = std::string(40, '2');
  EXPECT_EQ(run("params someone/new"), 1);
  EXPECT_SAYS(err, "model-00001-of-00002.safetensors");
  files.erase("model-00001-of-00002.safetensors");
  hub.repositories["someone/new"].commit = std::string(40, '3');
  EXPECT_EQ(run("params someone/new"), 1);
  EXPECT_SAYS(err, "model-00001-of-00002.safetensors");
}

TEST_F(HubCli, SweepsFetchBeforeTheFirstPoint) {
  EXPECT_EQ(run("sweep spec.toml"), 1);
  EXPECT_SAYS(err, "gated");
  EXPECT_FALSE(fs::exists(folder / "out"));
}

}  // namespace
