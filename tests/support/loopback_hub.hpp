// A hub on this computer: a real HTTP server that answers as the public one does, and misbehaves
// where a test asks it to. Protocol: huggingface_hub 2.4, file_download.py and utils/_http.py.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headroom::test {

/// A certificate for 127.0.0.1 that nobody has signed but itself, and its key, as files.
void write_certificate(const std::string& certificate, const std::string& key);

/// A request.
struct HubAsked {
  std::string path, range, authorization, etag;
  int connection = 0;  ///< the client's port: equal for requests on one connection
};

/// An answer.
struct HubReply {
  int status = 200;
  std::multimap<std::string, std::string> headers;
  std::string body;
  std::int64_t announced = -1;         ///< Content-Length where it is not the body's
  bool endless = false;                ///< the body again and again, chunked
  std::chrono::milliseconds pause{0};  ///< between pieces of a byte
  std::chrono::milliseconds delay{0};  ///< before the answer
};

struct HubRepository {
  std::map<std::string, std::string> files{};
  std::string commit = std::string(40, '1');       ///< commit of main
  std::map<std::string, std::string> revisions{};  ///< other names → commits
  enum class Access { open, gated, hidden } access{};
  std::set<std::string> elsewhere{};  ///< files that `cdn` serves, by redirect
};

class LoopbackHub {
 public:
  static constexpr const char* good_token = "hf_LoopbackTokenThatMayRead";

  /// `host`: what it is called by: 127.0.0.1 or localhost. `certificate`, `key`: files; https.
  explicit LoopbackHub(std::string host = "127.0.0.1", const std::string& certificate = {},
                       const std::string& key = {});
  ~LoopbackHub();
  std::string endpoint() const;

  /// All of these before the first request.
  std::map<std::string, HubRepository> repositories;
  LoopbackHub* cdn = nullptr;
  std::map<std::string, std::string> blobs;  ///< path → content, no hub at all
  std::function<void(const HubAsked&, HubReply&, int)> trick{};  ///< request's number from 1

  std::vector<HubAsked> asked() const;
  /// Bytes of bodies that were handed to the network so far.
  std::int64_t sent() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace headroom::test
