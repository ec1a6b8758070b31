// Models of a hub: metadata of "org/name[@revision][/file]", from the cache of the hub's own
// client, from ours, or by HTTP. Weights are never fetched.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sweep/hub/settings.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {

/// A model that the hub does not give. The message says why and what to do, and never holds a
/// token.
class HubError : public std::runtime_error {
 public:
  enum class Problem {
    unreachable,    ///< no connection, or no answer that can be right
    offline,        ///< not cached, and fetching is not wanted
    no_repository,  ///< not there, or private
    refused,        ///< gated, wrong token, no such revision or file, …
  };
  HubError(Problem why, const std::string& what) : std::runtime_error(what), problem(why) {}
  Problem problem;
};

/// "org/name@revision/folder/file", "org/name/folder/file@revision" or "org/name:Q4_K_M", parsed.
/// An address of the hub's site may stand before, as a browser shows it.
struct HubAddress {
  std::string repository;        ///< "org/name", or "gpt2" of the hub's first years
  std::string revision{};        ///< branch, tag or commit; empty: main
  std::string folder{}, file{};  ///< folder and name of one file; both may be empty
  std::string quantisation{};    ///< "Q4_K_M": the GGUF file whose name ends in it; or empty
};
/// Nothing where `name` cannot be of the hub: a path, or characters that no repository has.
std::optional<HubAddress> parse_hub_address(std::string_view name);

/// A hub as one process uses it: settings are read and connections made when first needed. Each
/// model is looked up once. Any number of threads may ask it.
class Hub : public ModelSource {
 public:
  explicit Hub(HubFlags flags = {}, Environment environment = process_environment());
  Hub(HubSettings settings);
  ~Hub() override;
  /// Nothing where the name cannot be of the hub. A name without an organisation is looked up in
  /// caches only, unless it has a revision. Throws HubError, ConfigError, FormatError.
  std::optional<model::Model> find(const ModelReference& reference) const override;
  /// True if any name was looked up on the hub or in its caches, but not while `find` runs.
  bool was_asked() const;

 private:
  struct State;
  const State& state() const;
  std::optional<model::Model> look_up(const ModelReference& reference) const;
  std::function<HubSettings()> read_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const State> state_;
  using Overrides = std::vector<std::pair<std::string, std::string>>;
  mutable std::mutex finding_;
  mutable std::map<std::pair<std::string, Overrides>, model::Model> found_;
};

}  // namespace headroom::sweep
