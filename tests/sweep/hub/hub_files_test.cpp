// Repositories of a hub: fetched files, stored files, and answers from caches.
#include "tests/sweep/hub/hub_files_fixture.hpp"

namespace headroom::sweep {
namespace {

TEST_F(HubRepositories, FilesAreOfOneCommit) {
  repository().revisions["v1"] = second;
  auto at = session();
  EXPECT_EQ(at.files.provenance(), "");
  EXPECT_TRUE(at.files.has("config.json"));
  EXPECT_EQ(at.files.read("config.json", 1000), "{\"a\": 1}");
  EXPECT_EQ(at.files.read("config.json", 3), "{\"a\"") << "a byte more than the most";
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_EQ(at.files.names(),
            (std::vector<std::string>{"README.md", "config.json", "model.safetensors"}));
  const auto asked = hub.asked();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0].path, "/org/model/resolve/main/config.json");
  EXPECT_EQ(asked[1].path, "/org/model/resolve/" + first + "/model.safetensors.index.json");
  EXPECT_EQ(asked[2].path, "/api/models/org/model/revision/" + first);
  EXPECT_SAYS(at.files.provenance(), "org/model, revision main, commit " + first + ", fetched");
  auto other = session({"org/model", "v1"});
  EXPECT_TRUE(other.files.has("config.json"));
  EXPECT_SAYS(other.files.provenance(), "revision v1, commit " + second);
  auto below = session({"org/model", "", "quantised", "part.gguf"});
  EXPECT_EQ(below.files.names(), std::vector<std::string>{"part.gguf"});
  EXPECT_EQ(below.files.read("part.gguf", 10), "GGUF");
}

TEST_F(HubRepositories, HeadersOfBigFilesByRange) {
  const std::string& weights = repository().files.at("model.safetensors");
  {
    auto at = session();
    const auto file = at.files.open("model.safetensors");
    EXPECT_EQ(file.size, 1 << 20);
    EXPECT_EQ(file.read(0, 8), weights.substr(0, 8));
    EXPECT_EQ(file.read(8, 1000), weights.substr(8, 1000));
    EXPECT_EQ(hub.asked().size(), 1U) << "the first bytes were enough";
    EXPECT_EQ(file.read(8, 200'000), weights.substr(8, 200'000));
    EXPECT_EQ(hub.asked().back().range, "bytes=131072-200007") << "only what was missing";
    EXPECT_EQ(file.read((1 << 20) - 5, 100), weights.substr((1 << 20) - 5)) << "short at the end";
    EXPECT_EQ(file.read(1 << 20, 5), "");
    EXPECT_LT(hub.sent(), 210'000);
  }
  const auto before = hub.asked().size();
  auto again = session({"org/model", first});
  const auto file = again.files.open("model.safetensors");
  EXPECT_EQ(file.read(8, 200'000), weights.substr(8, 200'000));
  EXPECT_EQ(hub.asked().size(), before) << "a file of a commit is never asked for again";
  EXPECT_SAYS(again.files.provenance(), "commit " + first + ", cached 20");
}

TEST_F(HubRepositories, WhetherThereIsABigFileIsRememberedToo) {
  {
    auto at = session();
    EXPECT_TRUE(at.files.has("model.safetensors"));
    EXPECT_FALSE(at.files.has("pytorch_model.bin"));
    EXPECT_EQ(at.files.open("model.safetensors").size, 1 << 20);
    EXPECT_EQ(hub.asked().size(), 2U);
  }
  auto again = session({"org/model", first});
  EXPECT_TRUE(again.files.has("model.safetensors"));
  EXPECT_FALSE(again.files.has("pytorch_model.bin"));
  EXPECT_EQ(hub.asked().size(), 2U);
  // Offline, files missing from a snapshot do not exist. Without a snapshot nothing is known about
  // them.
  settings.offline_by = "--offline";
  settings.cache = "";
  EXPECT_SAYS(complaint([&] { session().files.has("model.safetensors"); }), "would fetch");
  snapshot("config.json", "{}");
  EXPECT_FALSE(session().files.has("model.safetensors"));
  EXPECT_FALSE(session().files.has("model.safetensors.index.json"));
  EXPECT_EQ(hub.asked().size(), 2U);
}

TEST_F(HubRepositories, ShardsAreFetchedConcurrently) {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    names.push_back("model-" + std::to_string(i) + ".safetensors");
    repository().files[names.back()] = std::string(200'000, static_cast<char>('a' + i));
  }
  std::atomic<int> inside = 0, most = 0;
  hub.trick = [&](const HubAsked&, HubReply&, int) {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --inside;
  };
  auto at = session();
  names.push_back("none.safetensors");
  at.files.has("config.json");
  at.files.expect(names);
  EXPECT_GT(most, 2);
  EXPECT_LE(most, 8);
  EXPECT_EQ(hub.asked().size(), 14U);
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(at.files.open(names[static_cast<std::size_t>(i)]).read(0, 1),
              std::string(1, static_cast<char>('a' + i)));
  EXPECT_EQ(hub.asked().size(), 14U) << "they were there already";
  EXPECT_SAYS(complaint([&] { at.files.open("none.safetensors"); }), "no such file");
}

TEST_F(HubRepositories, BigFilesElsewhereAreAskedForWithoutTheToken) {
  LoopbackHub cdn("localhost");
  cdn.blobs["/blob/model.safetensors"] = repository().files.at("model.safetensors");
  hub.cdn = &cdn;
  repository().elsewhere = {"model.safetensors"};
  repository().access = test::HubRepository::Access::gated;
  settings.token = Secret(LoopbackHub::good_token);
  auto at = session();
  EXPECT_EQ(at.files.open("model.safetensors").read(100, 3), std::string("\x64\x65\x66"));
  ASSERT_EQ(cdn.asked().size(), 1U);
  EXPECT_EQ(cdn.asked()[0].authorization, "");
  EXPECT_EQ(cdn.asked()[0].range, "bytes=0-131071");
  EXPECT_SAYS(at.files.provenance(), first) << "the commit is what the hub says";
}

TEST_F(HubRepositories, BranchesAreCheckedByTheirETag) {
  session().files.has("config.json");
  auto same = session();
  EXPECT_EQ(same.files.read("config.json", 1000), "{\"a\": 1}");
  EXPECT_FALSE(hub.asked().back().etag.empty());
  EXPECT_SAYS(same.files.provenance(), "unchanged");
  // The commit moves, the file does not. Other files come from the new commit.
  repository().commit = second;
  auto moved = session();
  EXPECT_TRUE(moved.files.has("config.json"));
  EXPECT_SAYS(moved.files.provenance(), second);
  EXPECT_FALSE(moved.files.has("generation_config.json"));
  EXPECT_SAYS(hub.asked().back().path, second);
  repository().files["config.json"] = "{\"a\": 2}";
  auto changed = session();
  EXPECT_EQ(changed.files.read("config.json", 1000), "{\"a\": 2}");
  EXPECT_SAYS(changed.files.provenance(), "fetched");
}

TEST_F(HubRepositories, ACommitThatMovesBetweenTwoAnswersIsNotMixed) {
  auto at = session();
  hub.trick = [](const HubAsked& asked, HubReply& reply, int number) {
    if (number > 1 && asked.path.find("/main/") != std::string::npos)
      reply.status = 500;  // once the commit is known, nothing requests the branch
  };
  at.files.has("config.json");
  repository().revisions["old"] = first;
  repository().commit = second;
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_EQ(at.files.open("model.safetensors").size, 1 << 20);
  EXPECT_SAYS(at.files.provenance(), first);
}

}  // namespace
}  // namespace headroom::sweep
