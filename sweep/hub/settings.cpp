// Source of names, defaults and order: huggingface_hub 2.4, constants.py and utils/_auth.py; of the
// certificates: requests (REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE), httpx and OpenSSL (SSL_CERT_*).
#include "sweep/hub/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "hardware/names.hpp"
#include "sweep/hub/url.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

std::string text(const Environment& environment, const std::string& name) {
  return environment(name).value_or("");
}

/// "1", "on", "yes", "true", in any case.
bool is_true(const std::string& text) {
  const std::string word = lower(text);
  return word == "1" || word == "on" || word == "yes" || word == "true";
}

/// With a leading "~" and "$NAME" or "${NAME}" replaced, as a shell would.
fs::path expanded(std::string path, const Environment& environment) {
  if (path == "~" || path.starts_with("~/")) path.replace(0, 1, text(environment, "HOME"));
  std::string all;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool braced = path.substr(i).starts_with("${");
    std::size_t end = i + (braced ? 2 : 1);
    const std::size_t begin = end;
    while (end < path.size() &&
           (std::isalnum(static_cast<unsigned char>(path[end])) || path[end] == '_'))
      ++end;
    const auto found =
        path[i] == '$' && end > begin && (!braced || path.substr(end).starts_with('}'))
            ? environment(path.substr(begin, end - begin))
            : std::nullopt;
    if (found) {
      all += *found;
      i = braced ? end : end - 1;
    } else {
      all += path[i];
    }
  }
  return all;
}

/// The folder that caches lie in; empty where there is no home.
fs::path cache_home(const Environment& environment) {
  if (const auto xdg = text(environment, "XDG_CACHE_HOME"); !xdg.empty()) return xdg;
  const auto home = text(environment, "HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache";
}

fs::path hf_home(const Environment& environment) {
  if (const auto home = text(environment, "HF_HOME"); !home.empty())
    return expanded(home, environment);
  const auto caches = cache_home(environment);
  return caches.empty() ? fs::path() : caches / "huggingface";
}

/// `held` without white space around it. Throws for what no header can carry.
Secret token_of(std::string held, const std::string& from) {
  std::erase_if(held, [](char c) { return c == '\r' || c == '\n'; });
  held.erase(0, std::min(held.find_first_not_of(" \t"), held.size()));
  held.erase(held.find_last_not_of(" \t") + 1);
  const auto strange = [](unsigned char c) { return c <= ' ' || c >= 127; };
  if (held.size() > 4096 || std::ranges::any_of(held, strange))
    throw std::invalid_argument(fmt::format(
        "{}: not a valid token (it has spaces or control characters, or is too long)", from));
  return Secret(std::move(held));
}

std::string file_text(const fs::path& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return "";
  std::ifstream in(path, std::ios::binary);
  std::string all(64 << 10, '\0');
  in.read(all.data(), static_cast<std::streamsize>(all.size()));
  all.resize(static_cast<std::size_t>(in.gcount()));
  return all;
}

void set_token(HubSettings& settings, const HubFlags& flags, const Environment& environment) {
  const auto use = [&](std::string held, std::string from) {
    settings.token = token_of(std::move(held), from);
    if (!settings.token.empty()) settings.token_from = std::move(from);
    return !settings.token.empty();
  };
  if (flags.token) {
    if (!use(*flags.token, "--hub-token"))
      throw std::invalid_argument("--hub-token: it is empty; a token looks like hf_…");
    return;
  }
  if (is_true(text(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return;
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (use(text(environment, name), name)) return;
  const auto named = text(environment, "HF_TOKEN_PATH");
  const auto home = hf_home(environment);
  const fs::path file = !named.empty() ? expanded(named, environment)
                        : home.empty() ? fs::path()
                                       : home / "token";
  use(file_text(file), file.string());
}

void set_endpoint(HubSettings& settings, const Environment& environment) {
  settings.endpoint = text(environment, "HF_ENDPOINT");
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  if (settings.endpoint.empty()) settings.endpoint = "https://huggingface.co";
  if (origin_of_url(settings.endpoint).empty() ||
      settings.endpoint.find_first_of("?#") != std::string::npos)
    throw std::invalid_argument(
        fmt::format("HF_ENDPOINT: found '{}', expected https://HOST[:PORT][/PATH], without a user "
                    "name or password",
                    shown_url(settings.endpoint)));
}

void set_seconds(auto& duration, const std::string& name, const Environment& environment) {
  const std::string held = text(environment, name);
  if (held.empty()) return;
  int seconds = 0;
  const auto [end, error] = std::from_chars(held.data(), held.data() + held.size(), seconds);
  if (error != std::errc{} || end != held.data() + held.size() || seconds < 1 || seconds > 86'400)
    throw std::invalid_argument(
        fmt::format("{}: found '{}', expected whole seconds from 1 to 86400", name, held));
  duration = std::chrono::seconds(seconds);
}

void set_certificates(HttpSettings& http, const Environment& environment) {
  std::error_code error;
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const std::string path = text(environment, name);
    if (path.empty()) continue;
    (fs::is_directory(path, error) ? http.ca_folder : http.ca_file) = path;
    return;
  }
  http.ca_folder = text(environment, "SSL_CERT_DIR");
}

}  // namespace

HubFlags hub_flags(const Options& options) {
  HubFlags flags;
  if (options.given("hub-token")) flags.token = options.text("hub-token");
  flags.offline = options.given("offline");
  return flags;
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value) return std::nullopt;
    return value;
  };
}

fs::path hf_cache_folder(const Environment& environment) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const auto path = text(environment, name); !path.empty())
      return expanded(path, environment);
  const auto home = hf_home(environment);
  return home.empty() ? fs::path() : home / "hub";
}

HubSettings hub_settings(const HubFlags& flags, const Environment& environment) {
  HubSettings settings;
  set_endpoint(settings, environment);
  set_token(settings, flags, environment);
  if (flags.offline) settings.offline_by = "--offline";
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    const std::string held = text(environment, name);
    if (settings.offline_by.empty() && is_true(held)) settings.offline_by = name;
    if (!held.empty()) break;  // as the hub's client: the second only where the first is not set
  }
  settings.hf_cache = hf_cache_folder(environment);
  if (const auto caches = cache_home(environment); !caches.empty())
    settings.cache = caches / "headroom" / "hub";
  set_seconds(settings.http.connect, "HF_HUB_ETAG_TIMEOUT", environment);
  set_seconds(settings.http.stall, "HF_HUB_DOWNLOAD_TIMEOUT", environment);
  settings.http.deadline =
      std::max<HttpSettings::Milliseconds>(settings.http.deadline, 2 * settings.http.stall);
  set_certificates(settings.http, environment);
  return settings;
}

}  // namespace headroom::sweep
