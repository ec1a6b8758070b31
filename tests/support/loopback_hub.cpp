#include "tests/support/loopback_hub.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace headroom::test {
namespace {

std::string etag_of(const std::string& content) {
  return fmt::format("\"{:016x}\"", std::hash<std::string>{}(content));
}

HubReply error(int status, const std::string& code, const std::string& message) {
  HubReply reply;
  reply.status = status;
  if (!code.empty()) reply.headers.emplace("X-Error-Code", code);
  reply.headers.emplace("X-Error-Message", message);
  reply.body = message;
  return reply;
}

/// The part that a Range header asks for; 416 beyond the end.
void cut(HubReply& reply, const std::string& range) {
  long long first = 0, last = 0;
  if (reply.status != 200 || std::sscanf(range.c_str(), "bytes=%lld-%lld", &first, &last) != 2)
    return;
  const auto size = static_cast<long long>(reply.body.size());
  if (first >= size) {
    reply.status = 416;
    reply.headers.emplace("Content-Range", fmt::format("bytes */{}", size));
    reply.body.clear();
    return;
  }
  last = std::min(last, size - 1);
  reply.status = 206;
  reply.headers.emplace("Content-Range", fmt::format("bytes {}-{}/{}", first, last, size));
  reply.body = reply.body.substr(static_cast<std::size_t>(first),
                                 static_cast<std::size_t>(last - first + 1));
}

HubReply content(const std::string& body, const HubAsked& asked) {
  HubReply reply;
  reply.headers.emplace("ETag", etag_of(body));
  if (asked.etag == etag_of(body))
    reply.status = 304;
  else
    reply.body = body;
  cut(reply, asked.range);
  return reply;
}

std::string listing(const HubRepository& repository, const std::string& commit) {
  std::string files;
  for (const auto& [name, bytes] : repository.files)
    files += fmt::format("{}{{\"rfilename\":\"{}\"}}", files.empty() ? "" : ",", name);
  return fmt::format("{{\"sha\":\"{}\",\"siblings\":[{}]}}", commit, files);
}

}  // namespace

void write_certificate(const std::string& certificate, const std::string& key) {
  EVP_PKEY* pair = EVP_EC_gen("P-256");
  X509* x509 = X509_new();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, pair);
  X509_NAME* name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("loopback"), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  X509_EXTENSION* address =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
  X509_add_ext(x509, address, -1);
  X509_sign(x509, pair, EVP_sha256());
  const auto file = [](const std::string& path) {
    return std::unique_ptr<BIO, decltype(&BIO_free_all)>(BIO_new_file(path.c_str(), "w"),
                                                         &BIO_free_all);
  };
  PEM_write_bio_X509(file(certificate).get(), x509);
  PEM_write_bio_PrivateKey(file(key).get(), pair, nullptr, nullptr, 0, nullptr, nullptr);
  X509_EXTENSION_free(address);
  X509_free(x509);
  EVP_PKEY_free(pair);
}

struct LoopbackHub::Server {
  std::string host;
  bool secure = false;
  std::unique_ptr<httplib::Server> http;
  int port = 0;
  std::thread thread;
  mutable std::mutex mutex;
  std::vector<HubAsked> asked;
  std::atomic<std::int64_t> sent = 0;

  static HubReply answer(const LoopbackHub& hub, const HubAsked& asked);
  void send(HubReply reply, httplib::Response& out);
};

HubReply LoopbackHub::Server::answer(const LoopbackHub& hub, const HubAsked& asked) {
  if (const auto blob = hub.blobs.find(asked.path); blob != hub.blobs.end())
    return content(blob->second, asked);
  const bool good = asked.authorization == std::string("Bearer ") + good_token;
  const bool any = !asked.authorization.empty();
  for (const auto& [name, repository] : hub.repositories) {
    const std::string files = '/' + name + "/resolve/", api = "/api/models/" + name + "/revision/";
    const bool is_file = asked.path.starts_with(files);
    if (!is_file && !asked.path.starts_with(api)) continue;
    if (repository.access == HubRepository::Access::hidden && !good) break;
    if (repository.access == HubRepository::Access::gated && !good && is_file)
      return error(any ? 403 : 401, "GatedRepo", "Access to model " + name + " is restricted.");
    auto revisions = repository.revisions;
    revisions["main"] = repository.commit;
    for (const auto& [word, commit] : std::map(revisions)) revisions[commit] = commit;
    const std::string rest = asked.path.substr((is_file ? files : api).size());
    for (const auto& [revision, commit] : revisions) {
      if (rest != revision && !rest.starts_with(revision + '/')) continue;
      if (!is_file) return content(listing(repository, commit), asked);
      const std::string file = rest.substr(revision.size() + 1);
      const auto found = repository.files.find(file);
      HubReply reply = found == repository.files.end()
                           ? error(404, "EntryNotFound", "Entry not found")
                           : content(found->second, asked);
      if (repository.elsewhere.contains(file)) {
        reply = {};
        reply.status = 302;
        reply.headers.emplace("Location", fmt::format("{}/blob/{}?X-Amz-Signature=signed",
                                                      hub.cdn->endpoint(), file));
        reply.headers.emplace("X-Linked-Etag", etag_of(found->second));
        reply.headers.emplace("X-Linked-Size", std::to_string(found->second.size()));
      }
      reply.headers.emplace("X-Repo-Commit", commit);
      return reply;
    }
    return error(404, "RevisionNotFound", "Invalid rev id: " + rest);
  }
  if (any && !good) return error(401, "", "Invalid credentials in Authorization header");
  if (!any) return error(401, "", "Invalid username or password.");
  return error(404, "RepoNotFound", "Repository not found");
}

void LoopbackHub::Server::send(HubReply reply, httplib::Response& out) {
  std::this_thread::sleep_for(reply.delay);
  out.status = reply.status;
  for (const auto& [name, value] : reply.headers) out.set_header(name, value);
  const auto body = std::make_shared<std::string>(std::move(reply.body));
  const auto piece = reply.pause.count() > 0 ? 1 : body->size();
  const auto write = [this, body, piece, pause = reply.pause](std::size_t offset,
                                                              httplib::DataSink& sink) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    const std::size_t at = offset % body->size();
    const std::size_t length = std::min<std::size_t>(piece, body->size() - at);
    if (!sink.write(body->data() + at, length)) return false;
    sent += static_cast<std::int64_t>(length);
    return true;
  };
  if (reply.endless) {
    out.set_chunked_content_provider(
        "application/octet-stream",
        [write](std::size_t offset, httplib::DataSink& sink) { return write(offset, sink); });
    return;
  }
  const std::size_t announced =
      reply.announced < 0 ? body->size() : static_cast<std::size_t>(reply.announced);
  if (announced == 0) return;
  out.set_content_provider(announced, "application/octet-stream",
                           [write, body](std::size_t offset, std::size_t, httplib::DataSink& sink) {
                             return offset < body->size() &&
                                    write(offset, sink);  // false: the connection is cut
                           });
}

LoopbackHub::LoopbackHub(std::string host, const std::string& certificate, const std::string& key)
    : server_(std::make_unique<Server>()) {
  server_->host = std::move(host);
  server_->secure = !certificate.empty();
  if (server_->secure)
    server_->http = std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str());
  else
    server_->http = std::make_unique<httplib::Server>();
  httplib::Server& http = *server_->http;
  http.new_task_queue = [] { return new httplib::ThreadPool(24); };
  http.set_keep_alive_timeout(1);
  http.set_keep_alive_max_count(1000);
  http.set_tcp_nodelay(true);
  // Ranges are this file's business, not the library's.
  http.set_pre_routing_handler([](const httplib::Request& request, httplib::Response&) {
    const_cast<httplib::Request&>(request).ranges.clear();
    return httplib::Server::HandlerResponse::Unhandled;
  });
  http.Get(".*", [this](const httplib::Request& request, httplib::Response& out) {
    HubAsked asked{request.path, request.get_header_value("Range"),
                   request.get_header_value("Authorization"),
                   request.get_header_value("If-None-Match"), request.remote_port};
    int number = 0;
    {
      const std::lock_guard lock(server_->mutex);
      server_->asked.push_back(asked);
      number = static_cast<int>(server_->asked.size());
    }
    HubReply reply = Server::answer(*this, asked);
    if (trick) trick(asked, reply, number);
    server_->send(std::move(reply), out);
  });
  server_->port = http.bind_to_any_port("127.0.0.1");
  server_->thread = std::thread([&http] { http.listen_after_bind(); });
  while (!http.is_running()) std::this_thread::yield();
}

LoopbackHub::~LoopbackHub() {
  server_->http->stop();
  server_->thread.join();
}

std::string LoopbackHub::endpoint() const {
  return fmt::format("http{}://{}:{}", server_->secure ? "s" : "", server_->host, server_->port);
}

std::vector<HubAsked> LoopbackHub::asked() const {
  const std::lock_guard lock(server_->mutex);
  return server_->asked;
}

std::int64_t LoopbackHub::sent() const { return server_->sent; }

}  // namespace headroom::test
