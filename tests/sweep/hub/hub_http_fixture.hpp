// A server on this computer, and requests to it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "sweep/hub/http.hpp"
#include "sweep/hub/url.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/loopback_hub.hpp"

namespace headroom::sweep {

using test::HubAsked;
using test::HubReply;
using test::LoopbackHub;
using namespace std::chrono_literals;
using Part = HttpRequest::Part;

inline HttpSettings quick() {
  HttpSettings settings;
  settings.connect = 2s;
  settings.deadline = 5s;
  settings.first_wait = 1ms;
  return settings;
}

class HubHttp : public testing::Test {
 protected:
  HubHttp() {
    for (int i = 0; i < 100'000; ++i) content += static_cast<char>('a' + i % 23);
    hub.blobs["/file"] = content;
    hub.blobs["/small"] = "{}";
  }
  HttpRequest whole(const std::string& path, Size length = 1 << 20) const {
    return {.url = hub.endpoint() + path, .length = length};
  }
  HttpRequest range(Size offset, Size length, const std::string& path = "/file") const {
    return {.url = hub.endpoint() + path, .part = Part::range, .offset = offset, .length = length};
  }
  static std::string complaint(const HttpRequest& request, const HttpSettings& settings = quick()) {
    try {
      const auto answer = HttpClient(settings).get(request);
      return "status " + std::to_string(answer.status);
    } catch (const HttpError& e) {
      return e.what();
    }
  }
  std::string content;
  LoopbackHub hub;
};

#define EXPECT_SAYS(text, fragment) \
  EXPECT_NE((text).find(fragment), std::string::npos) << (text) << "\nlacks: " << (fragment)

}  // namespace headroom::sweep
