#include "sweep/hub/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hardware/names.hpp"

namespace headroom::sweep {
namespace {

/// In lower case; all empty for anything strange.
struct Parsed {
  std::string scheme, host, port;
};

Parsed parse(std::string_view url) {
  const auto strange = [](unsigned char c) { return c <= ' ' || c >= 127 || c == '\\'; };
  if (std::ranges::any_of(url, strange)) return {};
  const auto colon = url.find("://");
  if (colon == std::string_view::npos) return {};
  Parsed all;
  all.scheme = lower(url.substr(0, colon));
  if (all.scheme != "http" && all.scheme != "https") return {};
  url.remove_prefix(colon + 3);
  std::string authority = lower(url.substr(0, url.find_first_of("/?#")));
  if (authority.find('@') != std::string::npos) return {};
  const auto bracket = authority.find(']');
  const auto port = authority.find(':', bracket == std::string::npos ? 0 : bracket);
  all.host = authority.substr(0, port);
  all.port = port == std::string::npos ? "" : authority.substr(port + 1);
  if (all.port.empty()) all.port = all.scheme == "https" ? "443" : "80";
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto in_host = [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
  };
  if (all.host.empty() || !std::ranges::all_of(all.host, in_host) ||
      !std::ranges::all_of(all.port, digit))
    return {};
  return all;
}

}  // namespace

std::string origin_of_url(std::string_view url) {
  const Parsed parsed = parse(url);
  return parsed.host.empty() ? "" : parsed.scheme + "://" + parsed.host + ':' + parsed.port;
}

bool is_loopback_url(std::string_view url) {
  const std::string host = parse(url).host;
  if (host == "localhost" || host == "[::1]") return true;
  const auto in_address = [](unsigned char c) { return std::isdigit(c) || c == '.'; };
  return host.starts_with("127.") && std::ranges::all_of(host, in_address);
}

bool may_carry_token(std::string_view url) {
  return parse(url).scheme == "https" || is_loopback_url(url);
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, std::min(url.find_first_of("?#"), std::size_t{300}));
  std::string text;
  for (const char c : url) text += c > ' ' && c < 127 ? c : '?';
  const auto scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const auto end = std::min(text.find('/', scheme + 3), text.size());
  const auto at = text.rfind('@', end);
  if (at != std::string::npos && at > scheme) text.erase(scheme + 3, at - scheme - 2);
  return text;
}

std::string url_escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || c == '-' || c == '.' || c == '_' || c == '~')
      all += c;
    else
      all += fmt::format("%{:02X}", byte);
  }
  return all;
}

}  // namespace headroom::sweep
