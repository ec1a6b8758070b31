// How the hub is reached: endpoint, token, caches, offline or not, as the hub's own client
// (huggingface_hub) takes them from the environment.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "sweep/hub/http.hpp"

namespace headroom::sweep {

/// Settings from the command line.
struct HubFlags {
  std::optional<std::string> token;  ///< --hub-token
  bool offline = false;              ///< --offline
};

struct HubSettings {
  std::string endpoint;            ///< "https://huggingface.co", without a slash at its end
  Secret token;                    ///< empty: none
  std::string token_from;          ///< "HF_TOKEN", "--hub-token", a file; empty: none
  std::string offline_by;          ///< origin of offline mode: "--offline"; empty: online
  std::filesystem::path hf_cache;  ///< cache of the hub's own client; empty: there is no home
  std::filesystem::path cache;     ///< headroom's own cache: $XDG_CACHE_HOME/headroom/hub
  HttpSettings http;
};

/// The value of an environment variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Reads, in this order of precedence:
///   endpoint  HF_ENDPOINT
///   token     the flag; HF_TOKEN, HUGGING_FACE_HUB_TOKEN, the file HF_TOKEN_PATH, $HF_HOME/token
///             (none of these with HF_HUB_DISABLE_IMPLICIT_TOKEN)
///   offline   the flag, HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE
///   hf_cache  HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub
///   HF_HOME   else $XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface
///   timeouts  HF_HUB_ETAG_TIMEOUT (connection), HF_HUB_DOWNLOAD_TIMEOUT (stall), whole seconds
///   CAs       REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE (files or folders), SSL_CERT_DIR
/// Throws std::invalid_argument naming the variable, never a token.
HubSettings hub_settings(const HubFlags& flags, const Environment& environment);

class Options;
/// --hub-token and --offline.
HubFlags hub_flags(const Options& options);

/// Folder in which the hub's own client keeps its files.
std::filesystem::path hf_cache_folder(const Environment& environment);

}  // namespace headroom::sweep
