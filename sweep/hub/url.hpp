// Parts of a URL: the origin, which decides who may see a token, and the text that may be shown.
#pragma once

#include <string>
#include <string_view>

namespace headroom::sweep {

/// Scheme, host and port of a URL, in lower case: "https://huggingface.co:443". Empty for anything
/// that is not plainly http(s)://HOST[:PORT]/…: two readers of a URL that disagree about its host
/// must not matter.
std::string origin_of_url(std::string_view url);
/// True if the URL is this computer itself.
bool is_loopback_url(std::string_view url);
/// True if a token may be sent there: https, or this computer itself.
bool may_carry_token(std::string_view url);
/// `url` as messages show it: without user, password, query and fragment.
std::string shown_url(std::string_view url);
/// `text` as one segment of a path: everything but letters, digits and "-._~" as %XX.
std::string url_escaped(std::string_view text);

}  // namespace headroom::sweep
