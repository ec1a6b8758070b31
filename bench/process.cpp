// Whole processes, from spawn to exit: the time that a calling script waits.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "sweep/sources/source.hpp"

namespace {

/// Runs the program and discards its output. Returns its exit code, or -1 if it did not start.
int run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, HEADROOM_PROGRAM, &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void process(benchmark::State& state, const std::vector<std::string>& arguments) {
  for (auto _ : state)
    if (const int code = run(arguments); code != 0) {
      state.SkipWithError(("exit code " + std::to_string(code)).c_str());
      break;
    }
}

std::vector<std::string> params_of_all() {
  auto arguments = headroom::sweep::catalogue_models();
  arguments.insert(arguments.begin(), "params");
  return arguments;
}

#define PROCESS(name, ...)                                                \
  BENCHMARK_CAPTURE(process, name, std::vector<std::string>(__VA_ARGS__)) \
      ->Unit(benchmark::kMillisecond)                                     \
      ->UseRealTime()
PROCESS(help, {"--help"});
PROCESS(params_one, {"params", "microsoft/phi-2"});
PROCESS(params_largest, {"params", "deepseek-ai/DeepSeek-V3"});
PROCESS(params_whole_catalogue, params_of_all());
PROCESS(estimate, {"estimate", "meta-llama/Meta-Llama-3.1-8B", "--machine", "rtx-4090"});
PROCESS(estimate_explained,
        {"estimate", "meta-llama/Meta-Llama-3.1-8B", "--machine", "rtx-4090", "--explain"});

}  // namespace
