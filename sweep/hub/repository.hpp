// One repository of a hub over HTTP and our cache of it, at one commit.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sweep/hub/cache.hpp"
#include "sweep/hub/hub.hpp"

namespace headroom::sweep {

/// The first answer says which commit a branch or tag is at; whatever is asked after it is asked of
/// that commit. Files of a commit do not change, so the cache answers for them; those of a branch
/// or tag are checked by their ETag. All functions throw HubError.
class HubRepository {
 public:
  /// `settings`, `client` and `cache` must outlive it. `commit`: empty where it is not known.
  HubRepository(const HubSettings& settings, const HttpClient& client, const HubCache& cache,
                const HubAddress& address, std::string commit);

  /// A whole file, at most `most` + 1 bytes of it; nothing where the repository has no such file.
  std::optional<std::string> whole(const std::string& path, Size most) const;
  /// Makes `file` hold at least the first `length` bytes, or all; an empty one is begun. False
  /// where the repository has no such file.
  bool extend(CachedFile& file, const std::string& path, Size length) const;
  /// Bytes anywhere in the file; short at its end.
  std::string range(const std::string& path, Size offset, Size length) const;
  /// Every file, with its folder.
  std::vector<std::string> paths() const;
  /// Host, revision, commit, and what of it is not fresh; empty before the first answer.
  std::string provenance() const;

 private:
  std::string revision() const;  ///< the commit where it is known
  std::string url(const std::string& revision, const std::string& path) const;
  HubCache::Key key(const std::string& revision, const std::string& path) const;
  HttpAnswer ask(HttpRequest request) const;
  CachedFile whole_of(const std::string& revision, const std::string& path, const std::string& url,
                      Size most) const;
  /// True if the file is of the repository's settled commit. The first file settles it.
  bool settle(const std::string& commit, const std::string& state) const;
  [[noreturn]] void not_cached(const std::string& url) const;

  const HubSettings& settings_;
  const HttpClient& client_;
  const HubCache& cache_;
  const std::string repository_, asked_;
  mutable std::mutex mutex_;
  mutable std::string commit_;  ///< commit of all files; empty: not known yet
  mutable std::string state_;   ///< "fetched", "cached …"; empty: nothing asked yet
};

/// Why `answer` is no file, as an error in words.
HubError refusal(const HttpAnswer& answer, const HubSettings& settings,
                 const std::string& repository, const std::string& revision,
                 const std::string& url);

/// 40 hexadecimal digits.
bool is_commit(std::string_view revision);

}  // namespace headroom::sweep
