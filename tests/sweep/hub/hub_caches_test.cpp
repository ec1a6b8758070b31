// Repositories from caches, and repositories that cannot be read.
#include "tests/sweep/hub/hub_files_fixture.hpp"

namespace headroom::sweep {
namespace {

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
  // Missing files come from the commit of the snapshot.
  repository().revisions["x"] = second;
  EXPECT_FALSE(at.files.has("model.safetensors.index.json"));
  EXPECT_SAYS(hub.asked().back().path, "/resolve/" + second + "/");
  // The snapshot does not serve another revision.
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
  repository().access = test::HubRepository::Access::gated;
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
  repository().access = test::HubRepository::Access::hidden;
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
