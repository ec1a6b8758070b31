// The environment, read as huggingface_hub 2.4 reads it (constants.py, utils/_auth.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "sweep/hub/settings.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

class HubSettingsOf : public testing::Test {
 protected:
  HubSettingsOf() { variables["HOME"] = home.string(); }

  Environment environment() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
  }
  HubSettings read(const HubFlags& flags = {}) const { return hub_settings(flags, environment()); }
  std::string token(const HubFlags& flags = {}) const { return read(flags).token.reveal(); }
  std::string complaint(const HubFlags& flags = {}) const {
    try {
      read(flags);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "none";
  }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const headroom::test::Folder temporary;
  const fs::path home = temporary.path();
  std::map<std::string, std::string> variables;
};

TEST_F(HubSettingsOf, NothingSet) {
  const auto settings = read();
  EXPECT_EQ(settings.endpoint, "https://huggingface.co");
  EXPECT_TRUE(settings.token.empty());
  EXPECT_EQ(settings.token_from, "");
  EXPECT_EQ(settings.offline_by, "");
  EXPECT_EQ(settings.hf_cache, home / ".cache/huggingface/hub");
  EXPECT_EQ(settings.cache, home / ".cache/headroom/hub");
  variables.clear();
  EXPECT_EQ(read().hf_cache, "");
  EXPECT_EQ(read().cache, "");
}

TEST_F(HubSettingsOf, TokensInTheOrderOfTheHubsClient) {
  write(home / ".cache/huggingface/token", "hf_default\n");
  EXPECT_EQ(token(), "hf_default");
  variables["XDG_CACHE_HOME"] = (home / "xdg").string();
  EXPECT_EQ(token(), "");
  write(home / "xdg/huggingface/token", " hf_xdg \n");
  EXPECT_EQ(token(), "hf_xdg");
  variables["HF_HOME"] = "~/hf";
  write(home / "hf/token", "hf_home");
  EXPECT_EQ(token(), "hf_home");
  variables["HF_TOKEN_PATH"] = "$HOME/elsewhere";
  write(home / "elsewhere", "hf_path\r\n");
  EXPECT_EQ(token(), "hf_path");
  variables["HUGGING_FACE_HUB_TOKEN"] = "hf_legacy";
  EXPECT_EQ(token(), "hf_legacy");
  variables["HF_TOKEN"] = "hf_variable\n";
  EXPECT_EQ(token(), "hf_variable");
  EXPECT_EQ(read().token_from, "HF_TOKEN");
  EXPECT_EQ(token({"hf_flag", false}), "hf_flag");
  variables["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "YES";
  EXPECT_EQ(token(), "");
  EXPECT_EQ(token({"hf_flag", false}), "hf_flag");
  EXPECT_EQ(read({"hf_flag", false}).token_from, "--hub-token");
}

TEST_F(HubSettingsOf, InvalidTokenIsReportedWithoutItsValue) {
  EXPECT_NE(complaint({"", false}).find("--hub-token"), std::string::npos);
  variables["HF_TOKEN"] = "hf_two words";
  EXPECT_NE(complaint().find("HF_TOKEN"), std::string::npos);
  EXPECT_EQ(complaint().find("words"), std::string::npos);
  variables["HF_TOKEN"] = "";  // as if not set
  EXPECT_EQ(complaint(), "none");
}

TEST_F(HubSettingsOf, CachesInTheOrderOfTheHubsClient) {
  variables["XDG_CACHE_HOME"] = "/x";
  EXPECT_EQ(read().hf_cache, "/x/huggingface/hub");
  EXPECT_EQ(read().cache, "/x/headroom/hub");
  variables["HF_HOME"] = "/h";
  EXPECT_EQ(read().hf_cache, "/h/hub");
  variables["HUGGINGFACE_HUB_CACHE"] = "${HOME}/legacy";
  EXPECT_EQ(read().hf_cache, home / "legacy");
  variables["HF_HUB_CACHE"] = "~/new";
  EXPECT_EQ(read().hf_cache, home / "new");
  variables["HF_HUB_CACHE"] = "/a/$NOT_SET/b";  // stays unchanged, as in Python's expandvars
  EXPECT_EQ(read().hf_cache, "/a/$NOT_SET/b");
}

TEST_F(HubSettingsOf, Offline) {
  EXPECT_EQ(read({std::nullopt, true}).offline_by, "--offline");
  for (const auto* yes : {"1", "ON", "yes", "True"}) {
    variables["HF_HUB_OFFLINE"] = yes;
    EXPECT_EQ(read().offline_by, "HF_HUB_OFFLINE") << yes;
  }
  variables["HF_HUB_OFFLINE"] = "0";
  variables["TRANSFORMERS_OFFLINE"] = "1";  // only if the first is not set
  EXPECT_EQ(read().offline_by, "");
  variables.erase("HF_HUB_OFFLINE");
  EXPECT_EQ(read().offline_by, "TRANSFORMERS_OFFLINE");
}

TEST_F(HubSettingsOf, Endpoints) {
  variables["HF_ENDPOINT"] = "https://hf-mirror.com/hub//";
  EXPECT_EQ(read().endpoint, "https://hf-mirror.com/hub");
  for (const auto* bad : {"hf-mirror.com", "ftp://hf-mirror.com", "https://hf-mirror.com/?a=b"}) {
    variables["HF_ENDPOINT"] = bad;
    EXPECT_NE(complaint().find("HF_ENDPOINT: found"), std::string::npos) << bad;
  }
  variables["HF_ENDPOINT"] = "https://user:password@hf-mirror.com";
  EXPECT_NE(complaint().find("HF_ENDPOINT: found"), std::string::npos);
  EXPECT_EQ(complaint().find("user:"), std::string::npos);
  EXPECT_EQ(complaint().find(":password"), std::string::npos);
}

TEST_F(HubSettingsOf, TimeoutsAndCertificates) {
  variables["HF_HUB_ETAG_TIMEOUT"] = "3";
  variables["HF_HUB_DOWNLOAD_TIMEOUT"] = "100";
  EXPECT_EQ(read().http.connect, std::chrono::seconds(3));
  EXPECT_EQ(read().http.stall, std::chrono::seconds(100));
  EXPECT_GT(read().http.deadline, std::chrono::seconds(100));
  variables["HF_HUB_DOWNLOAD_TIMEOUT"] = "soon";
  EXPECT_NE(complaint().find("HF_HUB_DOWNLOAD_TIMEOUT: found 'soon'"), std::string::npos);
  variables.erase("HF_HUB_DOWNLOAD_TIMEOUT");

  variables["SSL_CERT_DIR"] = "/certificates";
  EXPECT_EQ(read().http.ca_folder, "/certificates");
  variables["SSL_CERT_FILE"] = "/openssl.pem";
  EXPECT_EQ(read().http.ca_file, "/openssl.pem");
  variables["CURL_CA_BUNDLE"] = "/curl.pem";
  EXPECT_EQ(read().http.ca_file, "/curl.pem");
  variables["REQUESTS_CA_BUNDLE"] = home.string();  // a folder is accepted too
  EXPECT_EQ(read().http.ca_file, "");
  EXPECT_EQ(read().http.ca_folder, home.string());
}

}  // namespace
}  // namespace headroom::sweep
