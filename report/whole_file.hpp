// Files that appear whole or not at all: written under another name, then renamed.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string_view>
#include <vector>

namespace headroom::report {

/// Creates the folder where it is missing. Throws StoreError naming the file and the reason
/// (read-only, full disk); whatever was there under that name stays then, and nothing else is left.
/// A link stays: the file that it names is written. A device or a pipe takes the text as it comes.
void write_whole(const std::filesystem::path& file,
                 const std::function<void(std::ostream&)>& write);
/// As above, but a file that holds `content` already stays untouched.
void write_whole(const std::filesystem::path& file, std::string_view content);
/// True if the file is there with this content.
bool holds(const std::filesystem::path& file, std::string_view content);

/// Files of `folder`, named relative to it. `write` puts them into another folder and returns their
/// names; they move to `folder` when all are written. Throws what `write` throws, and StoreError;
/// whatever was in `folder` stays then, and nothing else is left.
std::vector<std::filesystem::path> write_folder(
    const std::filesystem::path& folder,
    const std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)>& write);

}  // namespace headroom::report
