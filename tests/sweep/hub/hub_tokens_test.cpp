// Tokens, redirects and certificates of HTTP, and the addresses that tokens may go to.
#include "tests/sweep/hub/hub_http_fixture.hpp"

namespace headroom::sweep {
namespace {

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
  // A relative redirect stays on the same host and keeps the token.
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

TEST_F(HubHttp, ReportsUnreachableHostsImmediately) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_SAYS(complaint({.url = "http://127.0.0.1:1/x", .length = 10}), "127.0.0.1");
  EXPECT_SAYS(complaint({.url = "ftp://127.0.0.1/x", .length = 10}), "not an http or https");
  HttpSettings patient = quick();
  patient.first_wait = 10s;  // a wait would be noticed
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
  settings.first_wait = std::chrono::seconds(10);  // a wait would be noticed
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
  // A redirect from https to http is refused.
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
