// llama.cpp's own parser of llama-server's arguments, without the library: says whether each line
// of standard input, words apart by tabs, is taken. Only what parsing asks of the library is
// answered here.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "common.h"
#include "ggml-backend.h"
#include "llama.h"
#if __has_include("arg.h")
#include "arg.h"
#endif

namespace {
char a_thing;  // a device, or its kind of buffer
}

extern "C" {
std::size_t llama_max_devices() { return 16; }
bool llama_supports_rpc() { return false; }
bool llama_supports_mmap() { return true; }
bool llama_supports_mlock() { return true; }
bool llama_supports_gpu_offload() { return true; }
std::size_t llama_max_tensor_buft_overrides() { return 4096; }
void ggml_backend_load_all() {}
#if __has_include("arg.h")
// By its symbol: older headers lack its type.
const char* flash_name(int) __asm__("llama_flash_attn_type_name");
const char* flash_name(int) { return ""; }
int32_t llama_chat_builtin_templates(const char**, size_t) { return 0; }
std::size_t ggml_backend_dev_count() { return 1; }
ggml_backend_dev_t ggml_backend_dev_get(std::size_t) {
  return reinterpret_cast<ggml_backend_dev_t>(&a_thing);
}
ggml_backend_dev_t ggml_backend_dev_by_name(const char*) {
  return reinterpret_cast<ggml_backend_dev_t>(&a_thing);
}
enum ggml_backend_dev_type ggml_backend_dev_type(ggml_backend_dev_t) {
  return GGML_BACKEND_DEVICE_TYPE_GPU;
}
ggml_backend_buffer_type_t ggml_backend_dev_buffer_type(ggml_backend_dev_t) {
  return reinterpret_cast<ggml_backend_buffer_type_t>(&a_thing);
}
#else
std::size_t ggml_backend_reg_get_count() { return 1; }
ggml_backend_buffer_type_t ggml_backend_reg_get_default_buffer_type(std::size_t) {
  return reinterpret_cast<ggml_backend_buffer_type_t>(&a_thing);
}
#endif
ggml_backend_buffer_type_t ggml_backend_cpu_buffer_type() {
  return reinterpret_cast<ggml_backend_buffer_type_t>(&a_thing);
}
const char* ggml_backend_buft_name(ggml_backend_buffer_type_t) { return "CPU"; }
}

static bool taken(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int count = static_cast<int>(words.size());
#if __has_include("arg.h")
  common_params params;
  return common_params_parse(count, argv.data(), params, LLAMA_EXAMPLE_SERVER);
#else
  gpt_params params;
  return gpt_params_parse(count, argv.data(), params);
#endif
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words{"llama-server"};
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    std::fflush(stderr);
    std::printf("%s\n", taken(words) ? "taken" : "refused");
    std::fflush(stdout);
  }
}
