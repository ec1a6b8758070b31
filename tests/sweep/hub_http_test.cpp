// HTTP against a real server on this computer that answers well and badly.
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
namespace {

using test::HubAsked;
using test::HubReply;
using test::LoopbackHub;
using namespace std::chrono_literals;
using Part = HttpRequest::Part;

HttpSettings quick() {
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

TEST_F(HubHttp, WholeFilesAndRanges) {
  const HttpClient client(quick());
  EXPECT_EQ(client.get(whole("/file")).body, content);
  const auto part = client.get(range(1000, 64));
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, content.substr(1000, 64));
  EXPECT_EQ(part.total, 100'000);
  EXPECT_EQ(hub.asked()[1].range, "bytes=1000-1063");
  EXPECT_EQ(client.get(range(99'990, 64)).body, content.substr(99'990));
  const auto beyond = client.get(range(100'000, 64));
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.total, 100'000);
  // One connection for all four.
  std::set<int> connections;
  for (const auto& asked : hub.asked()) connections.insert(asked.connection);
  EXPECT_EQ(connections.size(), 1U);
}

TEST_F(HubHttp, ServerThatIgnoresRangesIsLeftEarly) {
  hub.blobs["/big"] = std::string(64 << 20, 'x');
  hub.trick = [&](const HubAsked& asked, HubReply& reply, int) {
    reply.status = 200;
    reply.headers.erase("Content-Range");
    reply.body = hub.blobs.at(asked.path);
  };
  const HttpClient client(quick());
  const auto part = client.get(range(1000, 64));
  EXPECT_EQ(part.body, content.substr(1000, 64));
  EXPECT_EQ(part.total, 100'000);
  const auto big = client.get(range(0, 1024, "/big"));
  EXPECT_EQ(big.body.size(), 1024U);
  EXPECT_EQ(big.total, 64 << 20);
  EXPECT_LT(client.get(whole("/big", 100)).body.size(), 101U);
}

TEST_F(HubHttp, EndlessBodiesAreLeft) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) { reply.endless = true; };
  const auto answer = HttpClient(quick()).get(whole("/file", 300'000));
  EXPECT_EQ(answer.body.size(), 300'000U);
  EXPECT_EQ(answer.total, -1);
  EXPECT_LT(hub.sent(), 64 << 20);
}

TEST_F(HubHttp, EndlessErrorPagesAreLeft) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    reply.status = 404;
    reply.endless = true;
  };
  const auto answer = HttpClient(quick()).get(whole("/file"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_LE(answer.body.size(), 16U << 10);
}

TEST_F(HubHttp, TruncatedBodiesAreTriedAgainAndThenAnError) {
  hub.trick = [&](const HubAsked&, HubReply& reply, int number) {
    if (number <= 2) reply.announced = static_cast<std::int64_t>(reply.body.size());
    if (number <= 2) reply.body.resize(reply.body.size() / 2);
  };
  EXPECT_EQ(HttpClient(quick()).get(whole("/file")).body, content);
  EXPECT_EQ(hub.asked().size(), 3U);
  hub.trick = [&](const HubAsked&, HubReply& reply, int) {
    reply.announced = static_cast<std::int64_t>(reply.body.size());
    reply.body.resize(reply.body.size() / 2);
  };
  const auto text = complaint(whole("/file"));
  EXPECT_SAYS(text, "/file");
  EXPECT_SAYS(text, "4 attempts");
  EXPECT_EQ(hub.asked().size(), 7U);
}

TEST_F(HubHttp, RangesThatLieAreErrors) {
  const auto with = [&](const std::string& lie) {
    hub.trick = [lie](const HubAsked&, HubReply& reply, int) {
      reply.headers.erase("Content-Range");
      if (!lie.empty()) reply.headers.emplace("Content-Range", lie);
    };
    return complaint(range(1000, 64));
  };
  EXPECT_SAYS(with("bytes 0-63/100000"), "asked for 64 bytes from 1000 on");
  EXPECT_SAYS(with("bytes 1000-1063/1000"), "answers the range");
  EXPECT_SAYS(with("bytes 1063-1000/100000"), "answers the range");
  EXPECT_SAYS(with("pages 1-2/3"), "answers the range");
  EXPECT_SAYS(with(""), "answers the range ''");
  EXPECT_SAYS(with("bytes 1000-1031/100000"), "announced the range");
  EXPECT_SAYS(with("bytes 1000-99999999999999999999/100000"), "answers the range");
}

TEST_F(HubHttp, EncodedAnswersAreErrors) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    reply.headers.emplace("Content-Encoding", "gzip");
  };
  EXPECT_SAYS(complaint(whole("/small")), "encoded as 'gzip'");
}

TEST_F(HubHttp, FloodsOfHeadersAreErrors) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    for (int i = 0; i < 100; ++i)
      reply.headers.emplace("X-" + std::to_string(i), std::string(4000, 'x'));
  };
  EXPECT_SAYS(complaint(whole("/small")), "headers");
}

TEST_F(HubHttp, SlowServersAreGivenUp) {
  hub.trick = [](const HubAsked&, HubReply& reply, int) { reply.pause = 20ms; };
  HttpSettings settings = quick();
  settings.deadline = 200ms;  // a byte every 20 ms, and 100,000 of them
  const auto begin = std::chrono::steady_clock::now();
  const auto text = complaint(whole("/file"), settings);
  EXPECT_SAYS(text, "not finished after 0.2 s");
  EXPECT_SAYS(text, "bytes had come");
  settings.deadline = 60s;
  settings.stall = 1s;
  settings.attempts = 1;
  EXPECT_SAYS(complaint(whole("/file"), settings), "too slow");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s) << "far from what it sends in all";
}

TEST_F(HubHttp, BusyServersAreAskedAgainAndWaitedFor) {
  HttpSettings settings = quick();
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    const auto before = static_cast<int>(hub.asked().size());
    hub.trick = [&](const HubAsked&, HubReply& reply, int number) {
      if (number <= before + 2) reply.status = status;
    };
    EXPECT_EQ(HttpClient(settings).get(whole("/small")).status, 200) << status;
    EXPECT_EQ(static_cast<int>(hub.asked().size()), before + 3) << status;
    hub.trick = [&](const HubAsked&, HubReply& reply, int) { reply.status = status; };
    EXPECT_SAYS(complaint(whole("/small"), settings), "answers " + std::to_string(status));
    EXPECT_EQ(static_cast<int>(hub.asked().size()), before + 7) << status;
  }
  for (const int status : {400, 403, 404, 410}) {  // these will not change
    const auto before = hub.asked().size();
    hub.trick = [&](const HubAsked&, HubReply& reply, int) { reply.status = status; };
    EXPECT_EQ(HttpClient(settings).get(whole("/small")).status, status);
    EXPECT_EQ(hub.asked().size(), before + 1);
  }
}

TEST_F(HubHttp, RetryAfterIsHonouredUpToALimit) {
  hub.trick = [](const HubAsked&, HubReply& reply, int number) {
    if (number != 1) return;
    reply.status = 429;
    reply.headers.emplace("Retry-After", "1");
  };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(HttpClient(quick()).get(whole("/small")).status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    reply.status = 503;
    reply.headers.emplace("Retry-After", "3600");
  };
  EXPECT_SAYS(complaint(whole("/small")), "asks to wait 3600 s");
  hub.trick = [](const HubAsked&, HubReply& reply, int) {
    reply.status = 429;
    reply.headers.emplace("RateLimit", "\"api\";r=0;t=300");
  };
  EXPECT_SAYS(complaint(whole("/small")), "asks to wait 300 s");
  EXPECT_EQ(hub.asked().size(), 4U);
}

TEST_F(HubHttp, TokensStayWithTheOriginOfTheRequest) {
  LoopbackHub other("localhost");
  other.blobs["/elsewhere"] = "{\"a\": 1}";
  hub.trick = [&](const HubAsked& asked, HubReply& reply, int) {
    if (asked.path == "/elsewhere" || asked.path == "/small") return;
    reply.status = asked.path == "/here" ? 307 : 302;
    reply.body = "Found";
    reply.headers.emplace("X-Repo-Commit", "of the first");
    reply.headers.emplace(
        "Location", asked.path == "/here" ? "/small" : other.endpoint() + "/elsewhere?Signature=s");
  };
  HttpRequest request = whole("/moved");
  request.token = Secret("hf_secret");
  const HttpClient client(quick());
  const auto moved = client.get(request);
  EXPECT_EQ(moved.body, "{\"a\": 1}");
  EXPECT_EQ(moved.origin_header("x-repo-commit"), "of the first");
  EXPECT_EQ(moved.header("x-repo-commit"), "");
  EXPECT_EQ(hub.asked()[0].authorization, "Bearer hf_secret");
  ASSERT_EQ(other.asked().size(), 1U);
  EXPECT_EQ(other.asked()[0].authorization, "");
  // A relative redirect stays at home, and so does the token.
  request.url = hub.endpoint() + "/here";
  EXPECT_EQ(client.get(request).body, "{}");
  EXPECT_EQ(hub.asked().back().path, "/small");
  EXPECT_EQ(hub.asked().back().authorization, "Bearer hf_secret");
}

TEST_F(HubHttp, RedirectsHaveALimitAndNoWayOut) {
  hub.trick = [&](const HubAsked&, HubReply& reply, int) {
    reply.status = 302;
    reply.headers.emplace("Location", "/small?secret=signature");
  };
  const auto text = complaint(whole("/small"));
  EXPECT_SAYS(text, "more than 5 redirects");
  EXPECT_EQ(text.find("signature"), std::string::npos);
  EXPECT_EQ(hub.asked().size(), 6U);
  hub.trick = [&](const HubAsked&, HubReply& reply, int) {
    reply.status = 302;
    reply.headers.emplace("Location", "file:///etc/passwd");
  };
  EXPECT_SAYS(complaint(whole("/small")), "rotocol");
}

TEST_F(HubHttp, NobodyThereIsSaidAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_SAYS(complaint({.url = "http://127.0.0.1:1/x", .length = 10}), "127.0.0.1");
  EXPECT_SAYS(complaint({.url = "ftp://127.0.0.1/x", .length = 10}), "not an http or https");
  HttpSettings patient = quick();
  patient.first_wait = 10s;  // would be felt
  EXPECT_SAYS(complaint({.url = "http://127.0.0.1:1/x", .length = 10}, patient), "onnect");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 9s);
}

TEST_F(HubHttp, TokensInAnswersAreMasked) {
  hub.trick = [](const HubAsked& asked, HubReply& reply, int) {
    reply.headers.emplace("Content-Encoding", "x" + asked.authorization);
  };
  HttpRequest request = whole("/small");
  request.token = Secret("hf_secret");
  const auto text = complaint(request);
  EXPECT_SAYS(text, "***");
  EXPECT_EQ(text.find("hf_secret"), std::string::npos);
}

TEST_F(HubHttp, CertificatesAreChecked) {
  const headroom::test::Folder folder;
  const std::string certificate = folder / "certificate.pem", key = folder / "key.pem";
  test::write_certificate(certificate, key);
  LoopbackHub secure("127.0.0.1", certificate, key), other("localhost", certificate, key);
  secure.blobs["/small"] = other.blobs["/small"] = "{}";
  HttpRequest request{
      .url = secure.endpoint() + "/small", .token = Secret("hf_secret"), .length = 100};
  HttpSettings settings = quick();
  settings.first_wait = std::chrono::seconds(10);  // would be felt
  EXPECT_SAYS(complaint(request, settings), "certificate");
  EXPECT_TRUE(secure.asked().empty());
  settings.ca_file = certificate;
  EXPECT_EQ(HttpClient(settings).get(request).body, "{}");
  EXPECT_EQ(secure.asked().at(0).authorization, "Bearer hf_secret");
  request.url = other.endpoint() + "/small";  // the certificate is for the other name
  EXPECT_SAYS(complaint(request, settings), "localhost");
  EXPECT_TRUE(other.asked().empty());
  settings.ca_file = folder / "none.pem";
  EXPECT_SAYS(complaint(request, settings), "none.pem");
  // From https nothing leads back to http.
  settings.ca_file = certificate;
  secure.trick = [&](const HubAsked&, HubReply& reply, int) {
    reply.status = 302;
    reply.headers.emplace("Location", hub.endpoint() + "/small");
  };
  request.url = secure.endpoint() + "/small";
  EXPECT_SAYS(complaint(request, settings), "redirects from https to http:");
  EXPECT_TRUE(hub.asked().empty());
}

TEST_F(HubHttp, ThreadsShareAClient) {
  const HttpClient client(quick());
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (Size i = 0; i < 20; ++i)
        good += client.get(range(1000 * t + i, 50)).body ==
                content.substr(static_cast<std::size_t>(1000 * t + i), 50);
    });
  threads.clear();
  EXPECT_EQ(good, 160);
}

TEST(HubUrl, OriginsAreSchemeHostAndPort) {
  EXPECT_EQ(origin_of_url("https://HuggingFace.co/a/b"), "https://huggingface.co:443");
  EXPECT_EQ(origin_of_url("https://huggingface.co:443"), "https://huggingface.co:443");
  EXPECT_EQ(origin_of_url("http://[::1]:80/x"), "http://[::1]:80");
  EXPECT_NE(origin_of_url("https://huggingface.co.evil.net/"), "https://huggingface.co:443");
  for (const auto* strange :
       {"https://huggingface.co@evil.net/", "https://user:pass@huggingface.co/",
        "https://huggingface.co\\@evil.net", "https://huggingface.co evil.net/", "huggingface.co",
        "file:///etc/passwd", "https://", "https://huggingface.co:port/", "https:///x",
        "https://huggingface.co%2eevil.net/", "//huggingface.co/"})
    EXPECT_EQ(origin_of_url(strange), "") << strange;
}

TEST(HubUrl, TokensGoOverHttpsOrToThisComputer) {
  for (const auto* good : {"https://huggingface.co/x", "https://mirror.net", "http://localhost:80/",
                           "http://127.0.0.1:8080/", "http://[::1]/"})
    EXPECT_TRUE(may_carry_token(good)) << good;
  for (const auto* bad : {"http://huggingface.co/", "http://localhost.evil.net/",
                          "http://127.0.0.1.evil.net/", "http://mirror.lan", "ftp://localhost/"})
    EXPECT_FALSE(may_carry_token(bad)) << bad;
}

TEST(HubUrl, ShownWithoutWhatMayBeSecret) {
  EXPECT_EQ(shown_url("https://u:p@host.net/a?X-Signature=s#f"), "https://host.net/a");
  EXPECT_EQ(shown_url("https://host.net/a@b/c"), "https://host.net/a@b/c");
  EXPECT_EQ(shown_url("https://host.net/a\nb"), "https://host.net/a?b");
  EXPECT_EQ(url_escaped("refs/pr/1 é"), "refs%2Fpr%2F1%20%C3%A9");
}

}  // namespace
}  // namespace headroom::sweep
