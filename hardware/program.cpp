// posix_spawn, a pipe and poll: no shell, no threads.
#include "hardware/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

extern char** environ;

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t max_output = 1 << 20;

/// Reads until the other end closes, `end` passes or the output limit is reached. True if the other
/// end closed.
bool drain(int descriptor, Clock::time_point end, std::string& output) {
  std::array<char, 4096> buffer;
  while (output.size() < max_output) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

/// Waits for `process` until `end`, then kills it. Returns the status of waitpid.
int reap(pid_t process, Clock::time_point end, bool& killed) {
  int status = 0;
  while (true) {
    const pid_t done = waitpid(process, &status, killed ? 0 : WNOHANG);
    if (done == process || (done < 0 && errno != EINTR)) return status;
    if (Clock::now() >= end && !killed) {
      kill(process, SIGKILL);
      killed = true;
    }
    if (!killed) usleep(1000);
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds limit) {
  ProgramResult result;
  std::array<int, 2> ends{};
  if (arguments.empty() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    result.outcome = ProgramResult::Outcome::failed;
    return result;
  }
  std::vector<char*> raw;
  for (const std::string& each : arguments) raw.push_back(const_cast<char*>(each.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error = posix_spawnp(&process, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    result.outcome =
        error == ENOENT ? ProgramResult::Outcome::not_found : ProgramResult::Outcome::failed;
    return result;
  }
  const Clock::time_point end = Clock::now() + limit;
  bool killed = false;
  if (!drain(ends[0], end, result.output)) {
    kill(process, SIGKILL);
    killed = true;
  }
  close(ends[0]);
  const int status = reap(process, end, killed);
  if (killed)
    result.outcome = ProgramResult::Outcome::timed_out;
  else if (WIFEXITED(status)) {
    result.outcome = ProgramResult::Outcome::finished;
    result.exit_code = WEXITSTATUS(status);
  } else
    result.outcome = ProgramResult::Outcome::failed;
  return result;
}

}  // namespace headroom
