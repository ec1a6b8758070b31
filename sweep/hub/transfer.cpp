#include "sweep/hub/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "sweep/hub/url.hpp"

namespace headroom::sweep {
namespace {

struct Lists {
  curl_slist* list = nullptr;
  ~Lists() { curl().free_list(list); }
  void add(const std::string& line) {
    if (auto* longer = curl().append(list, line.c_str())) list = longer;
  }
};

/// The handle outlives the objects it points to.
struct Forget {
  CURL* handle;
  ~Forget() { curl().reset(handle); }
};

/// State that the callbacks share.
struct Receiving {
  CURL* handle;
  const HttpRequest& request;
  Transfer& answer;
  Size header_bytes = 0, skipped = 0;
  bool satisfied = false;  ///< all that is wanted is there; more was on its way

  int status() const {
    long code = 0;
    curl().info(handle, CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }
  Size announced() const {
    curl_off_t length = -1;
    curl().info(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length;
  }
};

std::size_t take_header(char* bytes, std::size_t one, std::size_t count, void* to) try {
  auto& receiving = *static_cast<Receiving*>(to);
  const std::string_view line(bytes, one * count);
  receiving.header_bytes += static_cast<Size>(line.size());
  if (receiving.header_bytes > max_header_bytes) return 0;
  if (line.starts_with("HTTP/")) receiving.answer.headers.clear();  // after "100 Continue"
  const auto colon = line.find(':');
  if (colon != std::string_view::npos)
    receiving.answer.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
  return line.size();
} catch (...) {
  return 0;
}

std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* to) try {
  auto& receiving = *static_cast<Receiving*>(to);
  std::string_view chunk(bytes, one * count);
  const std::size_t taken = chunk.size();
  const int status = receiving.status();
  const bool good = status == 200 || status == 206;
  const Size most = good ? receiving.request.length : max_error_body;
  if (status == 200 && receiving.skipped < receiving.request.offset) {  // the range was ignored
    const Size skip =
        std::min(receiving.request.offset - receiving.skipped, static_cast<Size>(chunk.size()));
    receiving.skipped += skip;
    chunk.remove_prefix(static_cast<std::size_t>(skip));
  }
  std::string& body = receiving.answer.body;
  const Size room = most - static_cast<Size>(body.size());
  const Size use = std::min(room, static_cast<Size>(chunk.size()));
  body.append(chunk.substr(0, static_cast<std::size_t>(use)));
  const Size seen = receiving.skipped + static_cast<Size>(body.size());
  const bool full = use == room && receiving.announced() != seen;
  receiving.satisfied = use < static_cast<Size>(chunk.size()) || full;
  return receiving.satisfied ? 0 : taken;
} catch (...) {
  return 0;
}

void configure(CURL* handle, const std::string& url, const HttpRequest& request,
               const HttpSettings& settings, HttpSettings::Milliseconds left, Lists& headers) {
  const Curl& api = curl();
  api.set(handle, CURLOPT_URL, url.c_str());
  api.set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  api.set(handle, CURLOPT_NOSIGNAL, 1L);
  api.set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  api.set(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  api.set(handle, CURLOPT_USERAGENT, "headroom/" HEADROOM_VERSION);
  api.set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect.count()));
  api.set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<Size>(1, left.count())));
  api.set(handle, CURLOPT_LOW_SPEED_LIMIT, 1024L);
  api.set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(settings.stall.count()));
  if (is_loopback_url(url)) api.set(handle, CURLOPT_NOPROXY, "*");
  if (!settings.ca_file.empty()) api.set(handle, CURLOPT_CAINFO, settings.ca_file.c_str());
  if (!settings.ca_folder.empty()) api.set(handle, CURLOPT_CAPATH, settings.ca_folder.c_str());
  headers.add("Accept-Encoding: identity");
  if (request.part == HttpRequest::Part::range)
    headers.add(
        fmt::format("Range: bytes={}-{}", request.offset, request.offset + request.length - 1));
  if (!request.etag.empty()) headers.add("If-None-Match: " + request.etag);
  const std::string origin = origin_of_url(url);
  if (!request.token.empty() && may_carry_token(url) && origin == origin_of_url(request.url))
    headers.add("Authorization: Bearer " + request.token.reveal());
  api.set(handle, CURLOPT_HTTPHEADER, headers.list);
}

/// True if a second attempt may help. It does not if a name has no address, nobody listens, or the
/// certificate is not trusted.
bool worth_again(CURLcode code, bool connected) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return connected;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

}  // namespace

Transfer transfer(CURL* handle, const std::string& url, const HttpRequest& request,
                  const HttpSettings& settings, HttpSettings::Milliseconds left) {
  const Curl& api = curl();
  Transfer answer;
  Receiving receiving{handle, request, answer};
  Lists headers;
  configure(handle, url, request, settings, left, headers);
  char words[CURL_ERROR_SIZE] = "";
  const Forget forget{handle};
  api.set(handle, CURLOPT_ERRORBUFFER, words);
  api.set(handle, CURLOPT_HEADERFUNCTION, &take_header);
  api.set(handle, CURLOPT_HEADERDATA, &receiving);
  api.set(handle, CURLOPT_WRITEFUNCTION, &take_body);
  api.set(handle, CURLOPT_WRITEDATA, &receiving);
  const auto begin = std::chrono::steady_clock::now();
  const CURLcode code = api.perform(handle);
  const auto taken = std::chrono::steady_clock::now() - begin;
  answer.status = receiving.status();
  answer.whole = code == CURLE_OK;
  if (receiving.header_bytes > max_header_bytes)
    throw TransferFailure{fmt::format("more than {} bytes of headers", max_header_bytes)};
  if (code != CURLE_OK && !receiving.satisfied) {
    double connected = 0;
    api.info(handle, CURLINFO_PRETRANSFER_TIME, &connected);
    if (code == CURLE_OPERATION_TIMEDOUT && taken >= left)
      throw TransferFailure{fmt::format("not finished after {} s ({} bytes had come)",
                                        static_cast<double>(settings.deadline.count()) / 1000,
                                        answer.body.size())};
    throw TransferFailure{words[0] ? words : api.error(code), worth_again(code, connected > 0)};
  }
  char* redirect = nullptr;
  api.info(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect) answer.location = redirect;
  curl_off_t retry = 0;
  api.info(handle, CURLINFO_RETRY_AFTER, &retry);
  answer.retry_after_s = static_cast<double>(retry);
  return answer;
}

}  // namespace headroom::sweep
