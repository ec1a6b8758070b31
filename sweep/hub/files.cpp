#include "sweep/hub/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>

#include "model/checkpoint/formats/shard_index.hpp"
#include "sweep/concurrent_requests.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

/// True if a folder has the files of a model.
bool has_model(const fs::path& folder, const std::string& file) {
  std::error_code error;
  if (!file.empty()) return fs::exists(folder / file, error);
  if (fs::exists(folder / "config.json", error)) return true;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".gguf" || entry.path().extension() == ".safetensors")
      return true;
  return false;
}

}  // namespace

Snapshot find_snapshot(const fs::path& cache, const HubAddress& address) {
  if (cache.empty()) return {};
  std::string folder = "models--" + address.repository;
  if (const auto slash = folder.find('/'); slash != std::string::npos)
    folder.replace(slash, 1, "--");
  std::string commit = address.revision, since;
  if (!is_commit(commit)) {
    const fs::path file = cache / folder / "refs" / (commit.empty() ? "main" : commit);
    std::ifstream ref(file);
    commit.clear();
    ref >> std::setw(64) >> commit;
    if (!is_commit(commit)) return {};
    std::error_code error;
    using std::chrono::system_clock;
    since = day_of(std::chrono::time_point_cast<system_clock::duration>(
        std::chrono::file_clock::to_sys(fs::last_write_time(file, error))));
  }
  Snapshot found{cache / folder / "snapshots" / commit / address.folder, commit, since};
  return has_model(found.folder, address.file) ? found : Snapshot{};
}

HubFiles::HubFiles(const HubSettings& settings, const HttpClient& client, const HubCache& cache,
                   HubAddress address)
    : address_(std::move(address)),
      snapshot_(find_snapshot(settings.hf_cache, address_)),
      local_(snapshot_.folder.empty() ? nullptr : folder_files(snapshot_.folder)),
      repository_(settings, client, cache, address_, snapshot_.commit) {}

std::string HubFiles::path(std::string_view name) const {
  return address_.folder.empty() ? std::string(name) : address_.folder + '/' + std::string(name);
}

std::string HubFiles::origin(std::string_view name) const {
  if (local_ && local_->has(name)) return local_->origin(name);
  return fmt::format("{}{}{}/{}", address_.repository, address_.revision.empty() ? "" : "@",
                     address_.revision, path(name));
}

std::vector<std::string> HubFiles::names() const {
  {
    const std::lock_guard lock(mutex_);
    if (names_) return *names_;
  }
  std::vector<std::string> all;
  try {
    for (const std::string& each : repository_.paths())
      if (const auto slash = each.rfind('/'); slash == std::string::npos
                                                  ? address_.folder.empty()
                                                  : each.substr(0, slash) == address_.folder)
        all.push_back(each.substr(slash == std::string::npos ? 0 : slash + 1));
  } catch (const HubError& e) {
    using enum HubError::Problem;
    if (!local_ || (e.problem != offline && e.problem != unreachable)) throw;
    all = local_->names();
  }
  const std::lock_guard lock(mutex_);
  return names_.emplace(std::move(all));
}

const std::optional<std::string>& HubFiles::small(const std::string& name) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = small_.find(name); found != small_.end()) return found->second;
  }
  auto text = repository_.whole(path(name), model::max_index);
  const std::lock_guard lock(mutex_);
  return small_.emplace(name, std::move(text)).first->second;
}

/// A cached config is used alone if the hub does not list the other files.
bool HubFiles::has(std::string_view name) const try {
  if (local_ && local_->has(name)) return true;
  if (name.ends_with(".json")) return small(std::string(name)).has_value();
  return begun(std::string(name)) != nullptr;
} catch (const HubError& e) {
  using enum HubError::Problem;
  const bool beside = name.ends_with(".json") && !name.ends_with(".index.json");
  const bool known = local_ && (e.problem == offline || e.problem == unreachable ||
                                (beside && local_->has("config.json")));
  if (!known) throw;
  return false;
}

std::string HubFiles::read(const std::string& name, Size most) const {
  if (local_ && local_->has(name)) return local_->read(name, most);
  const auto& text = small(name);
  if (!text || text->empty())
    throw HubError(HubError::Problem::refused,
                   fmt::format("{}: {}", origin(name), text ? "is empty" : "no such file"));
  return text->substr(0, static_cast<std::size_t>(most) + 1);
}

std::shared_ptr<HubFiles::Beginning> HubFiles::begun(const std::string& name) const {
  std::shared_ptr<Beginning> beginning;
  {
    const std::lock_guard lock(mutex_);
    auto& held = beginnings_[name];
    if (!held) held = std::make_shared<Beginning>();
    beginning = held;
  }
  const std::lock_guard lock(beginning->mutex);
  return repository_.extend(beginning->file, path(name), first_bytes) ? beginning : nullptr;
}

BigFile HubFiles::open(const std::string& name) const {
  if (local_ && local_->has(name)) return local_->open(name);
  const auto beginning = begun(name);
  if (!beginning)
    throw HubError(HubError::Problem::refused, fmt::format("{}: no such file", origin(name)));
  return {beginning->file.total, [this, beginning, at = path(name)](Size offset, Size length) {
            const std::lock_guard held(beginning->mutex);
            CachedFile& file = beginning->file;
            const Size end = std::min(offset + length, file.total);
            if (offset >= end) return std::string();
            if (offset > static_cast<Size>(file.bytes.size()))
              return repository_.range(at, offset, end - offset);
            repository_.extend(file, at, end);
            return file.bytes.substr(static_cast<std::size_t>(offset),
                                     static_cast<std::size_t>(end - offset));
          }};
}

/// Starts them concurrently. A failed request fails again with its reason when the file is opened.
void HubFiles::expect(const std::vector<std::string>& names) const {
  run_concurrently(names.size(), [&](std::size_t i) {
    try {
      open(names[i]);
    } catch (const std::exception&) {
    }
  });
}

std::string HubFiles::provenance() const {
  if (!local_) return repository_.provenance();
  if (is_commit(address_.revision))
    return fmt::format("local hub cache, {}, commit {}", address_.repository, snapshot_.commit);
  return fmt::format("local hub cache, {}, revision {} of {}, commit {}, not checked since",
                     address_.repository, address_.revision.empty() ? "main" : address_.revision,
                     snapshot_.since, snapshot_.commit);
}

}  // namespace headroom::sweep
