// A repository on a server on this computer, and folders for its caches.
#pragma once

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

namespace fs = std::filesystem;
using test::HubAsked;
using test::HubReply;
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
  test::HubRepository& repository() { return hub.repositories.at("org/model"); }
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

}  // namespace headroom::sweep
