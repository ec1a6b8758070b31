// Command lines of engines' servers, pasted whole: `vllm serve MODEL --tp 2 --port 8000`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

/// A server's command line in this program's words.
struct ServerCommand {
  std::vector<std::string> arguments;  ///< command, model, --runtime and options
  /// Options that change neither memory nor speed, and are left out.
  std::vector<std::string> without_effect;
  /// Options that may change memory or speed, and are not read.
  std::vector<std::string> not_described;
  std::vector<std::string> notes;  ///< the engine's choices where the command says nothing
};

/// The command line of a server in `arguments`, all words of a call, with this program's own words
/// before it: `estimate --machine h100-sxm -- vllm serve MODEL`. Nothing where no server is named.
/// Throws UsageError where it names no model.
std::optional<ServerCommand> server_command(std::span<const std::string> arguments);

/// `read` as one would type it here, and what is left out of it.
std::string in_words(const ServerCommand& read);

}  // namespace headroom::sweep
