// Repositories of a hub: what is fetched, what is kept, what the caches answer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "sweep/hub/files.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/loopback_hub.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;
using test::HubAsked;
using test::HubReply;
using test::HubRepository;
using test::LoopbackHub;

const std::string first(40, '1'), second(40, '2');

class HubRepositories : public testing::Test {
 protected:
  HubRepositories() {
    std::string weights(1 << 20, '\0');
    std::iota(weights.begin(), weights.end(), '\0');
    hub.repositories["org/model"] = {.files = {{"config.json", "{\"a\": 1}"},
                                               {"model.safetensors", weights},
                                               {"quantised/part.gguf", "GGUF"},
                                               {"README.md", "words"}}};
    settings.endpoint = hub.endpoint();
    settings.cache = folder / "ours";
    settings.hf_cache = folder / "theirs";
    settings.http.first_wait = std::chrono::milliseconds(1);
  }

  struct Session {
    HttpClient client;
    HubCache cache;
    HubFiles files;
    Session(const HubSettings& s, HubAddress address)
        : client(s.http), cache(s.cache), files(s, client, cache, std::move(address)) {}
  };
  /// As a process of its own would see it.
  Session session(HubAddress address = {"org/model"}) const { return {settings, address}; }
  HubRepository& repository() { return hub.repositories.at("org/model"); }
  static std::string complaint(auto&& act) {
    try {
      act();
    } catch (const HubError& e) {
      return e.what();
    }
    return "none";
  }
  void snapshot(const std::string& name, const std::string& text, bool with_ref = true) {
    const auto models = settings.hf_cache / "models--org--model";
    fs::create_directories(models / "snapshots" / second);
    fs::create_directories(models / "refs");
    std::ofstream(models / "snapshots" / second / name) << text;
    if (with_ref) std::ofstream(models / "refs" / "main") << second;
  }
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();
  LoopbackHub hub;
  HubSettings settings;
};

#define EXPECT_SAYS(text, fragment) \
  EXPECT_NE((text).find(fragment), std::string::npos) << (text) << "\nlacks: " << (fragment)

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
  // Offline, what a snapshot lacks is not there; without one nobody can say.
  settings.offline_by = "--offline";
  settings.cache = "";
  EXPECT_SAYS(complaint([&] { session().files.has("model.safetensors"); }), "would fetch");
  snapshot("config.json", "{}");
  EXPECT_FALSE(session().files.has("model.safetensors"));
  EXPECT_FALSE(session().files.has("model.safetensors.index.json"));
  EXPECT_EQ(hub.asked().size(), 2U);
}

TEST_F(HubRepositories, ShardsAreBegunBesideEachOther) {
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
  repository().access = HubRepository::Access::gated;
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
  // The commit moves, the file does not: what else is read is of the new commit.
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
      reply.status = 500;  // once the commit is known nobody asks for the branch
  };
  at.files.has("config.json");
  repository().revisions["old"] = first;
  repository().commit = second;
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_EQ(at.files.open("model.safetensors").size, 1 << 20);
  EXPECT_SAYS(at.files.provenance(), first);
}

TEST_F(HubRepositories, OfflineIsCachesOnly) {
  settings.offline_by = "HF_HUB_OFFLINE";
  const auto text = complaint([&] { session().files.has("config.json"); });
  EXPECT_SAYS(text, "offline by HF_HUB_OFFLINE");
  EXPECT_SAYS(text, hub.endpoint() + "/org/model/resolve/main/config.json");
  EXPECT_SAYS(text, settings.hf_cache.string());
  EXPECT_SAYS(text, settings.cache.string());
  EXPECT_TRUE(hub.asked().empty());
  settings.offline_by = "";
  {
    auto online = session();
    online.files.has("config.json");
    online.files.open("model.safetensors");
    online.files.names();
  }
  const auto before = hub.asked().size();
  settings.offline_by = "--offline";
  auto at = session();
  EXPECT_EQ(at.files.read("config.json", 1000), "{\"a\": 1}");
  EXPECT_EQ(at.files.open("model.safetensors").size, 1 << 20);
  EXPECT_EQ(at.files.names().size(), 3U);
  EXPECT_SAYS(at.files.provenance(), "not checked since: offline by --offline");
  EXPECT_SAYS(at.files.provenance(), first);
  EXPECT_SAYS(complaint([&] { at.files.open("model.safetensors").read(0, 900'000); }), "offline");
  EXPECT_EQ(hub.asked().size(), before);
}

TEST_F(HubRepositories, TheCacheOfTheHubsClientComesFirst) {
  snapshot("config.json", "{\"a\": 3}");
  auto at = session();
  EXPECT_EQ(at.files.read("config.json", 1000), "{\"a\": 3}");
  EXPECT_TRUE(hub.asked().empty());
  EXPECT_SAYS(at.files.provenance(), "local hub cache");
  EXPECT_SAYS(at.files.provenance(), "revision main of " + today() + ", commit " + second);
  EXPECT_SAYS(at.files.provenance(), "not checked since");
  // What it lacks is fetched at its own commit.
  repository().revisions["x"] = second;
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_SAYS(hub.asked().back().path, "/resolve/" + second + "/");
  // Another revision is not what was downloaded.
  auto other = session({"org/model", first});
  EXPECT_EQ(other.files.read("config.json", 1000), "{\"a\": 1}");
  auto commit = session({"org/model", second});
  EXPECT_EQ(commit.files.read("config.json", 1000), "{\"a\": 3}");
  EXPECT_EQ(commit.files.provenance().find("not checked"), std::string::npos);
}

TEST_F(HubRepositories, SnapshotsWithoutAModelAreNotEnough) {
  snapshot("tokenizer.json", "{}");
  auto at = session();
  EXPECT_FALSE(at.files.is_local());
  EXPECT_EQ(at.files.read("config.json", 1000), "{\"a\": 1}");
  EXPECT_SAYS(at.files.provenance(), first);
}

TEST_F(HubRepositories, BrokenCachesReadAsEmpty) {
  session().files.has("config.json");
  for (const auto& entry : fs::recursive_directory_iterator(settings.cache)) {
    if (!entry.is_regular_file()) continue;
    for (const std::string text :
         {"", "{}", "{}\n", "not json\n{}", "{\"headroom_hub_cache\":1}\n"}) {
      std::ofstream(entry.path()) << text;
      EXPECT_EQ(session().files.read("config.json", 1000), "{\"a\": 1}");
    }
    std::ofstream(entry.path(), std::ios::app) << "more";
    EXPECT_EQ(session().files.read("config.json", 1000), "{\"a\": 1}");
  }
  settings.cache = "/proc/headroom";  // cannot be written
  EXPECT_EQ(session().files.read("config.json", 1000), "{\"a\": 1}");
}

TEST_F(HubRepositories, HostsDoNotShareACache) {
  session().files.has("config.json");
  LoopbackHub mirror("localhost");
  mirror.repositories["org/model"] = {.files = {{"config.json", "{\"mirror\": 1}"}}};
  settings.endpoint = mirror.endpoint();
  EXPECT_EQ(session().files.read("config.json", 1000), "{\"mirror\": 1}");
}

TEST_F(HubRepositories, RefusalsSayWhatToDo) {
  const auto of = [&](HubAddress address, const std::string& token = {}) {
    settings.token = Secret(token);
    settings.token_from = token.empty() ? "" : "HF_TOKEN";
    return complaint([&] { session(address).files.has("config.json"); });
  };
  repository().access = HubRepository::Access::gated;
  auto text = of({"org/model"});
  EXPECT_SAYS(text,
              "org/model is gated: accept its conditions at " + hub.endpoint() + "/org/model");
  EXPECT_SAYS(text, "no token was sent: HF_TOKEN, --hub-token");
  text = of({"org/model"}, "hf_OfSomebodyElse");
  EXPECT_SAYS(text, "with the account of the token");
  EXPECT_SAYS(text, "the token of HF_TOKEN was sent");
  EXPECT_EQ(text.find("hf_OfSomebodyElse"), std::string::npos);
  EXPECT_EQ(of({"org/model"}, LoopbackHub::good_token), "none");
  text = of({"org/model", "v9"}, LoopbackHub::good_token);
  EXPECT_SAYS(text, "org/model has no revision 'v9'");
  repository().access = HubRepository::Access::hidden;
  EXPECT_SAYS(of({"org/model"}), "or it is private");
  EXPECT_SAYS(of({"org/none"}), "has no model org/none");
  EXPECT_SAYS(of({"org/none"}, "hf_wrong"), "does not accept the token of HF_TOKEN");
  EXPECT_SAYS(of({"org/none"}, LoopbackHub::good_token), "has no model org/none");
  hub.trick = [](const HubAsked& asked, HubReply& reply, int) {
    reply.status = 403;
    reply.headers.clear();
    reply.headers.emplace("X-Error-Message", "Seen: " + asked.authorization + "\x1b[31m");
  };
  text = of({"org/none"}, LoopbackHub::good_token);
  EXPECT_SAYS(text, "access is refused");
  EXPECT_EQ(text.find(LoopbackHub::good_token), std::string::npos) << "what a server repeats";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(HubRepositories, TokensDoNotGoOverPlainHttpElsewhere) {
  settings.endpoint = "http://hub.invalid:9";
  settings.token = Secret("hf_secret");
  settings.token_from = "HF_TOKEN";
  HttpAnswer answer;
  answer.status = 401;
  answer.origin_headers["x-error-code"] = "GatedRepo";
  const std::string text = refusal(answer, settings, "org/model", "main", "url").what();
  EXPECT_SAYS(text, "was not sent, since http://hub.invalid:9 is not https");
}

TEST_F(HubRepositories, ServersWithoutCommitsAndCodesWork) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    for (const auto* name : {"X-Repo-Commit", "X-Error-Code", "X-Error-Message", "ETag"})
      reply.headers.erase(name);
  };
  auto at = session();
  EXPECT_EQ(at.files.read("config.json", 1000), "{\"a\": 1}");
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_EQ(at.files.open("model.safetensors").read(0, 3).size(), 3U);
  EXPECT_SAYS(at.files.provenance(), "commit unknown");
}

TEST_F(HubRepositories, FilesThatChangeWhileTheyAreReadAreErrors) {
  hub.trick = [&](const HubAsked&, HubReply& reply, int number) {
    reply.headers.erase("X-Repo-Commit");
    if (number == 1) return;
    reply.headers.erase("ETag");
    reply.headers.emplace("ETag", "\"another\"");
  };
  auto at = session();
  const auto file = at.files.open("model.safetensors");
  EXPECT_SAYS(complaint([&] { file.read(0, 200'000); }), "changed while it was read");
}

TEST_F(HubRepositories, ListingsThatAreNoneAreErrors) {
  for (const std::string text : {"[]", "{", "{\"siblings\": 3}", "{\"siblings\": [{}]}", "\"x\""}) {
    hub.trick = [text](const HubAsked&, HubReply& reply, int) { reply.body = text; };
    settings.cache = "";
    EXPECT_SAYS(complaint([&] { session().files.names(); }), "/api/models/org/model/revision/main");
  }
}

}  // namespace
}  // namespace headroom::sweep
