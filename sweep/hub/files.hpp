// The files of one repository of a hub: what the hub's own client has of them on this computer,
// else over HTTP and our cache.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sweep/hub/repository.hpp"
#include "sweep/sources/model_files.hpp"

namespace headroom::sweep {

/// Bytes of a big file that are asked for first: they say how long the header is, and are all of
/// most headers.
inline constexpr Size first_bytes = Size{128} << 10;

/// A snapshot in the cache of the hub's own client:
/// <cache>/models--org--name/snapshots/<commit>, found through refs/<revision>.
struct Snapshot {
  std::filesystem::path folder;  ///< empty: none
  std::string commit;
  std::string since;  ///< when the revision was last looked up, as "2026-11-21"; empty: a commit
};
Snapshot find_snapshot(const std::filesystem::path& cache, const HubAddress& address);

/// All functions throw HubError where the hub does not give what is needed.
class HubFiles : public ModelFiles {
 public:
  /// `settings`, `client` and `cache` must outlive it.
  HubFiles(const HubSettings& settings, const HttpClient& client, const HubCache& cache,
           HubAddress address);
  std::vector<std::string> names() const override;
  bool has(std::string_view name) const override;
  std::string origin(std::string_view name) const override;
  std::string read(const std::string& name, Size most) const override;
  BigFile open(const std::string& name) const override;
  void expect(const std::vector<std::string>& names) const override;

  bool is_local() const { return local_ != nullptr; }
  /// Origin of all files: revision, commit, and if it was checked.
  std::string provenance() const;

 private:
  struct Beginning {
    std::mutex mutex;
    CachedFile file;
  };
  std::string path(std::string_view name) const;
  /// Null where there is no such file.
  std::shared_ptr<Beginning> begun(const std::string& name) const;
  const std::optional<std::string>& small(const std::string& name) const;

  HubAddress address_;
  Snapshot snapshot_;
  std::unique_ptr<ModelFiles> local_;  ///< the snapshot, where it has a model
  HubRepository repository_;
  mutable std::mutex mutex_;  ///< guards all members below; nothing is ever taken out of the maps
  mutable std::optional<std::vector<std::string>> names_;
  mutable std::map<std::string, std::optional<std::string>> small_;
  mutable std::map<std::string, std::shared_ptr<Beginning>> beginnings_;
};

}  // namespace headroom::sweep
