// Sweeps as processes, for tests that stop, kill and starve them.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hardware/text_file.hpp"
#include "report/read.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"

namespace headroom::test {

namespace fs = std::filesystem;
using report::Database;
using report::Table;

class SweepProcess : public testing::Test {
 protected:
  /// Starts the program; what it says goes into `says`.
  static pid_t start(std::vector<std::string> arguments, const fs::path& says = "/dev/null") {
    const pid_t child = fork();
    if (child != 0) return child;
    std::ofstream(says).close();  // both append, so that neither overwrites the other
    if (!freopen(says.c_str(), "a", stdout) || !freopen(says.c_str(), "a", stderr)) _exit(99);
    arguments.insert(arguments.begin(), program_path());
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(99);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int run(const std::vector<std::string>& arguments) { return wait_for(start(arguments)); }
  /// As above, with the output.
  std::pair<int, std::string> ask(const std::vector<std::string>& arguments) {
    const fs::path says = folder / "says.txt";
    const int code = wait_for(start(arguments, says));
    return {code, read_text_file(says)};
  }

  /// Until the database holds a block, so that there is something to go on from.
  void wait_for_a_block(const fs::path& database) {
    for (int i = 0; i < 2000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (!fs::exists(database)) continue;
      try {
        const auto runs = Database(database).runs();
        if (!runs.empty() && runs[0].points > 0) return;
      } catch (const std::exception&) {
        continue;  // not there yet
      }
    }
  }
  std::vector<std::string> sweep(const std::string& out, const std::string& jobs = "2") {
    const std::string spec = source_path("tests/cli/data/big.toml");
    return {"sweep", spec, "--out", (folder / out).string(), "--jobs", jobs};
  }
  fs::path database(const std::string& out) { return folder / out / "results.sqlite"; }
  /// Every outcome as text, in the order of the points.
  Table rows(const std::string& out) {
    return Database(database(out)).query("SELECT * FROM outcome ORDER BY id", 1);
  }
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();
};

}  // namespace headroom::test
