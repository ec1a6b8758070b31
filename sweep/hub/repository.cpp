#include "sweep/hub/repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/checkpoint/formats/shard_index.hpp"
#include "sweep/hub/url.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

/// The listing of a commit, among its files in the cache: no file has a line break in its name.
constexpr std::string_view listing = "\nfiles";

std::string escaped_path(const std::string& path) {
  std::string all;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    all += (at > 0 ? "/" : "") + url_escaped(path.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::string commit_of(const HttpAnswer& answer) {
  const std::string commit = answer.origin_header("x-repo-commit");
  return is_commit(commit) ? commit : "";
}

/// Only what can be repeated in a header, of a length that a server would give.
std::string etag_of(const HttpAnswer& answer) {
  const std::string etag = answer.header("etag");
  const auto strange = [](unsigned char c) { return c <= ' ' || c >= 127; };
  return etag.size() > 200 || std::ranges::any_of(etag, strange) ? "" : etag;
}

bool is_missing(const HttpAnswer& answer) {
  const std::string code = answer.origin_header("x-error-code");
  return answer.status == 404 && (code.empty() || code == "EntryNotFound");
}

}  // namespace

bool is_commit(std::string_view revision) {
  return revision.size() == 40 && revision.find_first_not_of("0123456789abcdef") == revision.npos;
}

HubRepository::HubRepository(const HubSettings& settings, const HttpClient& client,
                             const HubCache& cache, const HubAddress& address, std::string commit)
    : settings_(settings),
      client_(client),
      cache_(cache),
      repository_(address.repository),
      asked_(address.revision.empty() ? "main" : address.revision),
      commit_(is_commit(asked_) ? asked_ : std::move(commit)) {}

std::string HubRepository::revision() const {
  const std::lock_guard lock(mutex_);
  return commit_.empty() ? asked_ : commit_;
}

std::string HubRepository::url(const std::string& revision, const std::string& path) const {
  return fmt::format("{}/{}/resolve/{}/{}", settings_.endpoint, repository_, url_escaped(revision),
                     escaped_path(path));
}

HubCache::Key HubRepository::key(const std::string& revision, const std::string& path) const {
  return {settings_.endpoint, repository_, revision, path};
}

bool HubRepository::settle(const std::string& commit, const std::string& state) const {
  const std::lock_guard lock(mutex_);
  if (commit_.empty()) commit_ = commit;
  if (state_.empty()) state_ = state;
  return commit.empty() || commit == commit_;
}

void HubRepository::not_cached(const std::string& url) const {
  throw HubError(
      HubError::Problem::offline,
      fmt::format("offline by {}, and not cached: would fetch {} (looked in {} and {})",
                  settings_.offline_by, url,
                  settings_.hf_cache.empty() ? "no hub cache" : settings_.hf_cache.string(),
                  cache_.folder().empty() ? "no cache of ours" : cache_.folder().string()));
}

HttpAnswer HubRepository::ask(HttpRequest request) const try {
  request.token = settings_.token;
  return client_.get(request);
} catch (const HttpError& e) {
  throw HubError(HubError::Problem::unreachable, e.what());
}

CachedFile HubRepository::whole_of(const std::string& revision, const std::string& path,
                                   const std::string& url, Size most) const {
  const auto cached = cache_.find(key(revision, path));
  const bool whole = cached && cached->total == static_cast<Size>(cached->bytes.size());
  const bool absent = cached && cached->total < 0;
  const std::string since = cached ? "cached " + cached->fetched : "";
  if ((whole || absent) && is_commit(revision)) {
    settle(revision, since);
    return *cached;
  }
  if (!settings_.offline_by.empty()) {
    if (!whole) not_cached(url);
    settle(cached->commit,
           fmt::format("{}, not checked since: offline by {}", since, settings_.offline_by));
    return *cached;
  }
  const auto answer = ask({.url = url, .etag = whole ? cached->etag : "", .length = most + 1});
  CachedFile file{etag_of(answer), commit_of(answer), today(),
                  static_cast<Size>(answer.body.size()), answer.body};
  if (answer.status == 304 && whole) {
    file = *cached;
    file.commit = commit_of(answer);
  } else if (is_missing(answer)) {
    file.total = -1;
    file.bytes.clear();
  } else if (answer.status != 200) {
    throw refusal(answer, settings_, repository_, revision, url);
  }
  if (!settle(is_commit(revision) ? revision : file.commit,
              answer.status == 304 ? since + ", unchanged" : "fetched"))
    return whole_of(this->revision(), path, this->url(this->revision(), path), most);
  const bool worth = file.total <= most && (file.total >= 0 || is_commit(revision));
  if (worth) cache_.store(key(revision, path), file);
  return file;
}

std::optional<std::string> HubRepository::whole(const std::string& path, Size most) const {
  const std::string at = revision();
  CachedFile file = whole_of(at, path, url(at, path), most);
  if (file.total < 0) return std::nullopt;
  return std::move(file.bytes);
}

bool HubRepository::extend(CachedFile& file, const std::string& path, Size length) const {
  const auto has = [&] {
    return file.total >= 0 && static_cast<Size>(file.bytes.size()) >= std::min(length, file.total);
  };
  const std::string at = file.commit.empty() ? revision() : file.commit;
  if (!has() && file.bytes.empty() && is_commit(at))
    if (auto cached = cache_.find(key(at, path))) {
      settle(at, "cached " + cached->fetched);
      if (cached->total < 0) return false;
      file = std::move(*cached);
    }
  if (has()) return true;
  const auto from = static_cast<Size>(file.bytes.size());
  const std::string address = url(at, path);
  if (!settings_.offline_by.empty()) not_cached(address);
  const auto answer = ask(
      {.url = address, .part = HttpRequest::Part::range, .offset = from, .length = length - from});
  const bool missing = from == 0 && is_missing(answer);
  if (!missing && answer.status != 200 && answer.status != 206 && answer.status != 416)
    throw refusal(answer, settings_, repository_, at, address);
  const std::string commit = is_commit(at) ? at : commit_of(answer);
  if (!settle(commit, "fetched")) {  // moved on between two answers
    file = {};
    return extend(file, path, length);
  }
  if (missing) {
    if (!commit.empty())
      cache_.store(key(commit, path),
                   {.etag = {}, .commit = commit, .fetched = today(), .total = -1, .bytes = {}});
    return false;
  }
  if (answer.total < 0)
    throw HubError(HubError::Problem::unreachable,
                   fmt::format("{}: the server does not say how long the file is", address));
  const std::string etag = etag_of(answer);
  if (from > 0 &&
      (answer.total != file.total || (commit.empty() && !etag.empty() && etag != file.etag)))
    throw HubError(HubError::Problem::unreachable,
                   fmt::format("{}: changed while it was read", address));
  file.etag = etag;
  file.commit = commit;
  file.fetched = today();
  file.total = answer.total;
  file.bytes += answer.body;
  if (!has())
    throw HubError(
        HubError::Problem::unreachable,
        fmt::format("{}: {} bytes announced, {} came", address, file.total, file.bytes.size()));
  if (!commit.empty()) cache_.store(key(commit, path), file);
  return true;
}

std::string HubRepository::range(const std::string& path, Size offset, Size length) const {
  const std::string at = revision(), address = url(at, path);
  if (!settings_.offline_by.empty()) not_cached(address);
  auto answer =
      ask({.url = address, .part = HttpRequest::Part::range, .offset = offset, .length = length});
  if (answer.status == 416) return "";
  if (answer.status != 200 && answer.status != 206)
    throw refusal(answer, settings_, repository_, at, address);
  return std::move(answer.body);
}

std::vector<std::string> HubRepository::paths() const {
  const std::string at = revision();
  const std::string address =
      fmt::format("{}/api/models/{}/revision/{}", settings_.endpoint, repository_, url_escaped(at));
  const CachedFile file = whole_of(at, std::string(listing), address, model::max_index);
  const auto wrong = [&](std::string_view what) {
    return HubError(HubError::Problem::unreachable, fmt::format("{}: {}", address, what));
  };
  if (file.total < 0)
    throw HubError(HubError::Problem::no_repository,
                   fmt::format("{}: no such repository at {}", repository_, settings_.endpoint));
  boost::system::error_code error;
  const json::value parsed = json::parse(file.bytes, error);
  if (error || !parsed.is_object()) throw wrong("the answer is not a JSON object");
  const json::value* siblings = parsed.as_object().if_contains("siblings");
  if (!siblings || !siblings->is_array()) throw wrong("the answer has no list 'siblings'");
  std::vector<std::string> all;
  for (const json::value& sibling : siblings->as_array()) {
    const json::value* name =
        sibling.is_object() ? sibling.as_object().if_contains("rfilename") : nullptr;
    if (!name || !name->is_string()) throw wrong("a file of 'siblings' has no 'rfilename'");
    all.emplace_back(name->as_string());
  }
  const json::value* sha = parsed.as_object().if_contains("sha");
  if (sha && sha->is_string() && is_commit(sha->as_string()) && !is_commit(at))
    settle(std::string(sha->as_string()), "fetched");
  std::ranges::sort(all);
  return all;
}

std::string HubRepository::provenance() const {
  const std::lock_guard lock(mutex_);
  const auto host = settings_.endpoint.substr(settings_.endpoint.find("://") + 3);
  if (state_.empty()) return "";
  std::string text = fmt::format("hub {}, {}", host, repository_);
  if (!is_commit(asked_)) text += ", revision " + asked_;
  text += commit_.empty() ? ", commit unknown" : ", commit " + commit_;
  return text + ", " + state_;
}

}  // namespace headroom::sweep
