// Error statuses of a hub, in words. Codes as huggingface_hub 2.4 reads them (utils/_http.py,
// hf_raise_for_status): X-Error-Code and X-Error-Message.
#include <fmt/format.h>

#include "sweep/hub/repository.hpp"
#include "sweep/hub/url.hpp"

namespace headroom::sweep {
namespace {

/// A server's message for display: one line, printable, short, without the token.
std::string said(const HttpAnswer& answer, const Secret& token) {
  std::string text = token.masked(answer.origin_header("x-error-message")).substr(0, 200);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

constexpr std::string_view ways = "HF_TOKEN, --hub-token, or the token file of `hf auth login`";

std::string about_token(const HubSettings& settings) {
  if (settings.token.empty()) return fmt::format("no token was sent: {}", ways);
  if (!may_carry_token(settings.endpoint))
    return fmt::format("the token of {} was not sent, since {} is not https", settings.token_from,
                       settings.endpoint);
  return fmt::format("the token of {} was sent", settings.token_from);
}

}  // namespace

HubError refusal(const HttpAnswer& answer, const HubSettings& settings,
                 const std::string& repository, const std::string& revision,
                 const std::string& url) {
  using Problem = HubError::Problem;
  const std::string code = answer.origin_header("x-error-code");
  const std::string message = said(answer, settings.token);
  const std::string page = settings.endpoint + '/' + repository;
  if (answer.status == 401 && message.find("nvalid credentials") != std::string::npos)
    return {Problem::refused, fmt::format("{} does not accept the token of {} ({})",
                                          settings.endpoint, settings.token_from, message)};
  if (code == "GatedRepo") {
    const bool sent = !settings.token.empty() && may_carry_token(settings.endpoint);
    return {Problem::refused,
            fmt::format("{} is gated: accept its conditions at {}{} ({})", repository, page,
                        sent ? " with the account of the token, which needs the right to read "
                               "gated repositories"
                             : ", then give a token of that account",
                        about_token(settings))};
  }
  if (code == "EntryNotFound") return {Problem::refused, fmt::format("{}: no such file", url)};
  if (code == "RevisionNotFound")
    return {Problem::refused,
            fmt::format("{} has no revision '{}': branches, tags and commits are at {}/tree/main",
                        repository, revision, page)};
  if (code == "RepoNotFound" || answer.status == 401 || (answer.status == 404 && code.empty()))
    return {Problem::no_repository,
            fmt::format("{} has no model {}, or it is private and this account may not see it ({})",
                        settings.endpoint, repository, about_token(settings))};
  if (answer.status == 403)
    return {Problem::refused,
            fmt::format("{}: access is refused{}{} ({})", url, message.empty() ? "" : ": ", message,
                        about_token(settings))};
  return {Problem::refused, fmt::format("{}: answers {}{}{}", url, answer.status,
                                        message.empty() ? "" : ": ", message)};
}

}  // namespace headroom::sweep
