// A file that appears whole or not at all: written under another name, then renamed.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string_view>

namespace headroom::report {

/// Creates the folder where it is missing. Throws StoreError naming the file and the reason
/// (read-only, full disk); whatever was there under that name stays then, and nothing else is left.
void write_whole(const std::filesystem::path& file,
                 const std::function<void(std::ostream&)>& write);
void write_whole(const std::filesystem::path& file, std::string_view content);

}  // namespace headroom::report
