// The program as a process that may take only so much memory and time, for tests that attack it.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "hardware/text_file.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/sanitized.hpp"

namespace headroom::test {

/// The limits of a process. A sanitizer reserves terabytes of addresses, so it is not held to them.
struct Bounds {
  std::uint64_t memory = 2ULL << 30;          ///< bytes of addresses
  std::uint64_t file = 256ULL << 20;          ///< bytes of a file that it writes
  unsigned seconds = is_sanitized ? 60 : 10;  ///< limit of processor time
};

/// The result of a process.
struct Ended {
  int code = 0;  ///< exit code, or 128 + the signal
  std::string out, err;
};

inline void limit(int resource, std::uint64_t amount) {
  const rlimit both{amount, amount};
  setrlimit(resource, &both);
}

/// Runs the program with `arguments` in `folder`, without a network. `preload`: a library that is
/// loaded before all others.
inline Ended run_bounded(std::vector<std::string> arguments, const std::filesystem::path& folder,
                         const Bounds& bounds = {}, const std::string& preload = {}) {
  const auto out = folder / "stdout.txt", err = folder / "stderr.txt";
  arguments.insert(arguments.begin(), program_path());
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen(out.c_str(), "w", stdout) || !freopen(err.c_str(), "w", stderr)) _exit(99);
    if (!freopen("/dev/null", "r", stdin) || chdir(folder.c_str()) != 0) _exit(99);
    setenv("HF_HUB_OFFLINE", "1", 1);
    setenv("HOME", folder.c_str(), 1);
    if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1);
    if (!is_sanitized) limit(RLIMIT_AS, bounds.memory);
    limit(RLIMIT_FSIZE, bounds.file);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, bounds.seconds);
    alarm(20 * bounds.seconds);  // one that waits forever takes no processor time
    execv(argv[0], argv.data());
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          headroom::read_text_file(out), headroom::read_text_file(err)};
}

/// Empty where a process ended as it should on any input, else what is wrong. It should end with
/// one of the exit codes 0 to 3. Codes 1 and 2 have a message about the input.
inline std::string fault(const Ended& ended) {
  if (ended.code == 128 + SIGXCPU || ended.code == 128 + SIGKILL) return "takes endless time";
  if (ended.code == 128 + SIGALRM) return "waits forever";
  if (ended.code > 3) return "ended with code " + std::to_string(ended.code);
  if (ended.code == 1 || ended.code == 2) {
    // Findings of `lint` are what it is asked for.
    if (ended.err.find("headroom: ") == std::string::npos && ended.out.empty()) return "no message";
    // The standard library's words are about the program.
    for (const char* inner : {"out of memory", "bad_", "basic_string", "vector::", "map::", "std::",
                              "_M_", "stoi", "stol", "stod", "bytes: overflow"})
      if (ended.err.find(inner) != std::string::npos) return std::string("a message with ") + inner;
  }
  return {};
}

}  // namespace headroom::test
