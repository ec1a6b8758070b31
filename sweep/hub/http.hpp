// HTTP GET for metadata: ranges, redirects, retries, limits. Bounded in memory and in time whatever
// the server does.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom::sweep {

/// A server that cannot be reached, or whose answer cannot be right. The message names the URL
/// (without its query, which may be signed) and never a token.
class HttpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A text that nothing prints by accident.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }  ///< for the one header that sends it
  /// `text` with every occurrence of the secret masked: for what a server says.
  std::string masked(std::string text) const;

 private:
  std::string text_;
};

struct HttpSettings {
  using Milliseconds = std::chrono::milliseconds;
  Milliseconds connect{10'000};       ///< until the connection stands, TLS included
  Milliseconds deadline{60'000};      ///< for one attempt, redirects included
  std::chrono::seconds stall{10};     ///< below 1 KiB/s for so long: given up
  int attempts = 4;                   ///< on 408, 429, 5xx and broken transfers
  Milliseconds first_wait{500};       ///< before the second attempt; doubles, times 0.5 to 1.5
  Milliseconds longest_wait{60'000};  ///< a server that asks for more is not waited for
  std::string ca_file, ca_folder;     ///< certificates; empty: libcurl's own
};

/// One GET. Bytes offset … offset + length - 1 of the file are kept; a longer body is not read.
struct HttpRequest {
  std::string url;
  Secret token{};                           ///< sent to the origin of `url` alone
  std::string etag{};                       ///< If-None-Match
  enum class Part { whole, range } part{};  ///< range: only a part is requested
  Size offset = 0;
  Size length = 0;
};

/// The response: 200, 206, 304, 416 or an error status; never a redirect.
struct HttpAnswer {
  int status = 0;
  std::string body;  ///< body of an error, its beginning
  Size total = -1;   ///< bytes of the whole file; -1: the server does not say
  std::map<std::string, std::string> headers;  ///< headers of the last answer; names in lower case
  /// Headers of the responses from the origin of the request's URL, redirects included.
  std::map<std::string, std::string> origin_headers;

  /// Empty where there is none.
  std::string header(std::string_view name) const;
  std::string origin_header(std::string_view name) const;
};

/// Keeps connections open between requests; any number of threads may ask it.
class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings);
  ~HttpClient();
  /// Throws HttpError if the server is unreachable or too slow, or its certificate is not trusted.
  /// It also throws for a truncated response, a wrong range, too many redirects, and statuses 408,
  /// 429 and 5xx on the last attempt.
  HttpAnswer get(const HttpRequest& request) const;

 private:
  struct Pool;
  HttpSettings settings_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace headroom::sweep
