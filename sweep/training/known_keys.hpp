// Keys of training tools' files that --from knows and does not count.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

/// Keys of the tools' own classes of settings. "a.*" stands for every key below a.
std::vector<std::string> known_keys();
bool is_known_key(std::string_view key);

}  // namespace headroom::sweep
