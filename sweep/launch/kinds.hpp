// A table of kinds of files: one by its name, and all of them in a folder.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/names.hpp"
#include "report/whole_file.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Throws UnknownName with the nearest names; `what` is what they name.
template <class Kinds>
const auto& kind_named(const Kinds& kinds, std::string_view what, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& kind : kinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw unknown_name(what, name, known);
}

/// Writes the text of every kind that applies into the folder --out, and prints the others with the
/// reasons that `text_of` throws as std::invalid_argument. Returns the exit code. Throws UsageError
/// without a folder.
template <class Kinds, class TextOf>
int write_kinds(const Options& options, const Kinds& kinds, TextOf text_of) {
  namespace fs = std::filesystem;
  if (!options.given("out")) throw UsageError("--kind all writes files and needs --out FOLDER");
  const fs::path folder = options.text("out");
  std::error_code error;
  fs::create_directories(folder, error);
  int written = 0;
  for (const auto& kind : kinds) {
    try {
      report::write_whole(folder / kind.file, text_of(kind));
      fmt::print("{}: {}\n", (folder / kind.file).string(), kind.meaning);
      ++written;
    } catch (const std::invalid_argument& e) {
      fmt::print("no {}: {}\n", kind.file, e.what());
    }
  }
  return written > 0 ? done : answer_is_no;
}

}  // namespace headroom::sweep
