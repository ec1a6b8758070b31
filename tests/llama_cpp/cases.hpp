// Cases of a program that asks llama.cpp, each in a process of its own. One line of CSV is a case.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "ggml.h"

/// Prints "refused,WHY" and ends the case.
[[noreturn]] inline void refuse(const std::string& why) {
  std::string text = why.empty() ? "no message" : why;
  for (char& c : text)
    if (c == ',' || c == '\n' || c == '"') c = ';';
  std::printf("refused,%s\n", text.c_str());
  std::fflush(stdout);
  _exit(0);
}

/// The type called `name`; refuses where there is none.
inline ggml_type type_named(const char* name) {
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    const char* own = ggml_type_name(static_cast<ggml_type>(i));
    if (own != nullptr && std::strcmp(own, name) == 0) return static_cast<ggml_type>(i);
  }
  refuse(std::string("no type ") + name);
}

/// Calls `answer` with each argument after the first. An assertion of llama.cpp ends its case
/// alone, and a driver's memory is that of one case.
template <class Answer>
void run_cases(int count, char** arguments, const Answer& answer) {
  for (int i = 2; i < count; ++i) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      answer(arguments[1], arguments[i]);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("refused,ended by signal %d\n", WTERMSIG(status));
  }
}
