#include "sweep/hub/http.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "hardware/text.hpp"
#include "sweep/hub/transfer.hpp"
#include "sweep/hub/url.hpp"

namespace headroom::sweep {
namespace {

using Milliseconds = HttpSettings::Milliseconds;
using Clock = std::chrono::steady_clock;
constexpr int max_redirects = 5;

std::string value(const std::map<std::string, std::string>& headers, std::string_view name) {
  const auto found = headers.find(std::string(name));
  return found == headers.end() ? "" : found->second;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}
bool is_busy(int status) {
  return status == 408 || status == 429 || (status >= 500 && status < 600);
}

/// Content-Range: "bytes 0-1023/146515" or "bytes */47022".
struct ContentRange {
  Size first = -1, last = -1, total = -1;
};
ContentRange content_range(std::string_view text) {
  ContentRange range;
  if (!text.starts_with("bytes ")) return range;
  text.remove_prefix(6);
  const auto slash = text.find('/'), dash = text.find('-');
  if (slash == std::string_view::npos) return range;
  range.total = whole_number(text.substr(slash + 1)).value_or(-1);
  if (dash == std::string_view::npos || dash > slash) return range;
  range.first = whole_number(text.substr(0, dash)).value_or(-1);
  range.last = whole_number(text.substr(dash + 1, slash - dash - 1)).value_or(-1);
  return range;
}

/// Takes the size of the file from `answer`, and checks that what came is what was asked for.
Size checked_total(const HttpRequest& request, const Transfer& answer) {
  const auto came = static_cast<Size>(answer.body.size());
  const std::string coding = value(answer.headers, "content-encoding");
  if (!coding.empty() && coding != "identity")
    throw TransferFailure{
        fmt::format("the answer is encoded as '{}', unasked", coding.substr(0, 40))};
  if (answer.status == 200) {
    if (const auto length = whole_number(value(answer.headers, "content-length"))) return *length;
    return answer.whole && came > 0 ? request.offset + came : -1;
  }
  const std::string text = value(answer.headers, "content-range");
  const ContentRange range = content_range(text);
  if (request.part == HttpRequest::Part::whole || range.first != request.offset ||
      range.last < range.first || (range.total >= 0 && range.last >= range.total))
    throw TransferFailure{fmt::format("asked for {} bytes from {} on, it answers the range '{}'",
                                      request.length, request.offset, text.substr(0, 80))};
  const Size expected = std::min(request.length, range.last - range.first + 1);
  if (came != expected || (expected < request.length && range.last + 1 != range.total))
    throw TransferFailure{
        fmt::format("announced the range '{}' and sent {} bytes of it", text.substr(0, 80), came),
        true};
  return range.total;
}

/// Seconds that the server asks to wait: Retry-After, else the reset of its RateLimit header
/// ("api";r=0;t=55: draft-ietf-httpapi-ratelimit-headers).
double asked_wait(const Transfer& answer) {
  if (answer.retry_after_s > 0) return answer.retry_after_s;
  const std::string limit = value(answer.headers, "ratelimit");
  const auto at = limit.find(";t=");
  if (answer.status != 429 || at == std::string::npos) return 0;
  const std::string_view rest = std::string_view(limit).substr(at + 3);
  const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return static_cast<double>(whole_number(digits).value_or(0));
}

Milliseconds back_off(const HttpSettings& settings, int attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_real_distribution<double> jitter(0.5, 1.5);
  const double wait = static_cast<double>(settings.first_wait.count() << std::min(attempt - 1, 20));
  return Milliseconds(static_cast<Size>(wait * jitter(random)));
}

}  // namespace

std::string Secret::masked(std::string text) const {
  if (text_.empty()) return text;
  for (auto at = text.find(text_); at != std::string::npos; at = text.find(text_, at))
    text.replace(at, text_.size(), "***");
  return text;
}

std::string HttpAnswer::header(std::string_view name) const { return value(headers, name); }
std::string HttpAnswer::origin_header(std::string_view name) const {
  return value(origin_headers, name);
}

/// Handles that nobody uses at the moment, with their open connections.
struct HttpClient::Pool {
  std::mutex mutex;
  std::vector<CURL*> idle;
  ~Pool() {
    for (CURL* handle : idle) curl().cleanup(handle);
  }
  CURL* take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) {
      if (CURL* fresh = curl().init()) return fresh;
      throw HttpError("libcurl: out of memory");
    }
    CURL* handle = idle.back();
    idle.pop_back();
    return handle;
  }
  void give(CURL* handle) {
    const std::lock_guard lock(mutex);
    idle.push_back(handle);
  }
};

namespace {

/// One attempt, redirects followed. Throws TransferFailure.
HttpAnswer follow(CURL* handle, const HttpRequest& request, const HttpSettings& settings,
                  Transfer& last) {
  const auto end = Clock::now() + settings.deadline;
  const std::string origin = origin_of_url(request.url);
  HttpAnswer answer;
  std::string url = request.url;
  for (int hop = 0;; ++hop) {
    const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
    last = transfer(handle, url, request, settings, left);
    if (origin_of_url(url) == origin)
      for (const auto& [name, text] : last.headers) answer.origin_headers[name] = text;
    if (!is_redirect(last.status) || last.location.empty()) break;
    if (hop == max_redirects)
      throw TransferFailure{fmt::format("more than {} redirects, the last to {}", max_redirects,
                                        shown_url(last.location))};
    if (url.starts_with("https:") && !last.location.starts_with("https:"))
      throw TransferFailure{fmt::format("redirects from https to {}", shown_url(last.location))};
    url = last.location;
  }
  answer.status = last.status;
  if (last.status == 200 || last.status == 206)
    answer.total = checked_total(request, last);
  else if (last.status == 416)
    answer.total = content_range(value(last.headers, "content-range")).total;
  answer.headers = last.headers;
  answer.body = std::move(last.body);
  return answer;
}

}  // namespace

HttpClient::HttpClient(HttpSettings settings)
    : settings_(std::move(settings)), pool_(std::make_unique<Pool>()) {}
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::get(const HttpRequest& request) const {
  if (origin_of_url(request.url).empty())
    throw HttpError(fmt::format("{}: not an http or https address", shown_url(request.url)));
  const auto fail = [&](const std::string& what, int attempt) {
    const std::string text = request.token.masked(what);
    return HttpError(fmt::format("{}: {}{}", shown_url(request.url), text,
                                 attempt > 1 ? fmt::format(" ({} attempts)", attempt) : ""));
  };
  struct Borrowed {
    Pool& pool;
    CURL* handle;
    ~Borrowed() { pool.give(handle); }
  } const borrowed{*pool_, pool_->take()};
  for (int attempt = 1;; ++attempt) {
    Milliseconds wait = back_off(settings_, attempt);
    try {
      Transfer last;
      HttpAnswer answer = follow(borrowed.handle, request, settings_, last);
      if (!is_busy(answer.status)) return answer;
      const auto asked = Milliseconds(static_cast<Size>(std::min(asked_wait(last), 1e9) * 1000));
      if (asked > settings_.longest_wait)
        throw fail(
            fmt::format("answers {} and asks to wait {} s", answer.status, asked.count() / 1000),
            attempt);
      wait = std::max(wait, asked);
      if (attempt == settings_.attempts)
        throw fail(fmt::format("answers {}", answer.status), attempt);
    } catch (const TransferFailure& failure) {
      if (!failure.again || attempt == settings_.attempts) throw fail(failure.what, attempt);
    }
    std::this_thread::sleep_for(wait);
  }
}

}  // namespace headroom::sweep
