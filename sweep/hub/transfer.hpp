// One request and its answer, by libcurl: no redirects, no second attempt.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "sweep/hub/curl.hpp"
#include "sweep/hub/http.hpp"

namespace headroom::sweep {

/// Error bodies and those of redirects are read so far.
inline constexpr Size max_error_body = Size{16} << 10;
/// All header lines of one answer.
inline constexpr Size max_header_bytes = Size{256} << 10;

struct Transfer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case; of several, the last
  std::string body;
  bool whole = false;    ///< the body ended by itself, it was not left
  std::string location;  ///< absolute target of a redirect
  double retry_after_s = 0;
};

/// A transfer that failed. `again`: a second attempt may help.
struct TransferFailure {
  std::string what;
  bool again = false;
};

/// Asks `url` on `handle` for the part that `request` names. Throws TransferFailure.
Transfer transfer(CURL* handle, const std::string& url, const HttpRequest& request,
                  const HttpSettings& settings, HttpSettings::Milliseconds left);

}  // namespace headroom::sweep
