// HTTP against a real local server with good and bad answers.
#include "tests/sweep/hub/hub_http_fixture.hpp"

namespace headroom::sweep {
namespace {

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
  // All four requests share one connection.
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

TEST_F(HubHttp, WrongRangesAreErrors) {
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
  for (const int status : {400, 403, 404, 410}) {  // a retry cannot change these
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

}  // namespace
}  // namespace headroom::sweep
