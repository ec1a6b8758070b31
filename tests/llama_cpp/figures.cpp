// Says what llama.cpp itself reserves for a GGUF file, to the byte. The file is loaded as
// llama.cpp's own fit does
// (`no_alloc`), so that large models need neither data nor memory.
//
//   figures FILE.gguf CONTEXT:SEQUENCES:UBATCH:OUTPUTS:FLASH:KV ...
//
// CONTEXT is in tokens of a sequence, OUTPUTS the rows of logits of a pass (0: all), FLASH 0 or 1,
// KV the format of keys and values (f16, q8_0). One line a case, in the order of `print`; what
// llama.cpp refuses is its own message.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "llama-ext.h"
#include "llama-kv-cache-dsv4.h"
#include "llama-memory-hybrid-idx.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"
#include "llama-memory-recurrent.h"
#include "llama.h"
#include "tests/llama_cpp/cases.hpp"

namespace {

struct Log {
  std::string error, nodes, output, caches;
};
Log said;

std::string after(const std::string& line, const char* word) {
  const auto at = line.find(word);
  return at == std::string::npos ? "" : line.substr(at + std::strlen(word));
}

/// Keeps what only the log says: nodes of the graphs, MiB of the output buffer, cells and layers of
/// each cache.
void listen(ggml_log_level level, const char* text, void*) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  if (level == GGML_LOG_LEVEL_ERROR && said.error.empty()) said.error = line;
  if (const auto nodes = after(line, "nodes = "); !nodes.empty())
    said.nodes = nodes.substr(0, nodes.find(','));
  if (const auto size = after(line, "output buffer size = "); !size.empty())
    said.output = std::to_string(std::stod(size));
  if (line.find(" cells, ") != std::string::npos) {
    int cells = 0, layers = 0;
    if (std::sscanf(line.c_str() + line.find('('), "( %d cells, %d layers", &cells, &layers) == 2)
      said.caches +=
          (said.caches.empty() ? "" : " ") + std::to_string(layers) + "x" + std::to_string(cells);
  }
}

template <typename Map>
size_t sum(const Map& map) {
  size_t bytes = 0;
  for (const auto& [_, each] : map) bytes += each;
  return bytes;
}

/// Bytes of states that do not grow with the context.
size_t state_bytes(llama_memory_i* memory) {
  if (memory == nullptr) return 0;
  if (auto* m = dynamic_cast<llama_memory_recurrent*>(memory)) return sum(m->memory_breakdown());
  if (auto* m = dynamic_cast<llama_memory_hybrid_iswa*>(memory))
    return state_bytes(m->get_mem_recr());
  if (auto* m = dynamic_cast<llama_memory_hybrid_idx*>(memory))
    return state_bytes(m->get_mem_recr());
  if (auto* m = dynamic_cast<llama_memory_hybrid*>(memory)) return state_bytes(m->get_mem_recr());
  if (auto* m = dynamic_cast<llama_kv_cache_dsv4*>(memory))
    return sum(m->get_csa_state()->memory_breakdown()) +
           sum(m->get_hca_state()->memory_breakdown()) +
           sum(m->get_lid_state()->memory_breakdown());
  return 0;
}

void print(llama_context* context) {
  size_t model = 0, cache = 0, compute = 0;
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context)) {
    model += bytes.model;
    cache += bytes.context;
    compute += bytes.compute;
  }
  const size_t state = state_bytes(llama_get_memory(context));
  std::printf("loaded,%zu,%zu,%zu,%zu,%s,%s,%s\n", model, cache - state, state, compute,
              said.output.c_str(), said.nodes.c_str(), said.caches.c_str());
  std::fflush(stdout);
}

void answer(const char* file, const char* text) {
  unsigned context_tokens = 0, sequences = 0, ubatch = 0, outputs = 0;
  int flash = 0;
  char kv[16] = {};
  if (std::sscanf(text, "%u:%u:%u:%u:%d:%15s", &context_tokens, &sequences, &ubatch, &outputs,
                  &flash, kv) != 6)
    refuse("no case");
  llama_model_params how = llama_model_default_params();
  how.no_alloc = true;
  how.load_mode = LLAMA_LOAD_MODE_NONE;
  how.use_extra_bufts = false;
  llama_model* model = llama_model_load_from_file(file, how);
  if (model == nullptr) refuse(said.error);
  llama_context_params with = llama_context_default_params();
  with.n_ctx = context_tokens * sequences;
  with.n_seq_max = sequences;
  with.n_ubatch = ubatch;
  with.n_outputs_max = outputs;
  with.kv_unified = false;
  with.swa_full = false;
  with.flash_attn_type =
      flash != 0 ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  with.type_k = with.type_v = type_named(kv);
  llama_context* context = llama_init_from_model(model, with);
  if (context == nullptr) refuse(said.error);
  print(context);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr,
                 "usage: figures FILE.gguf CONTEXT:SEQUENCES:UBATCH:OUTPUTS:FLASH:KV ...\n");
    return 2;
  }
  setenv("GGML_NO_BACKTRACE", "1", 1);
  llama_log_set(listen, nullptr);
  run_cases(count, arguments, [](const char* file, const char* text) {
    std::freopen("/dev/null", "w", stderr);
    answer(file, text);
  });
}
