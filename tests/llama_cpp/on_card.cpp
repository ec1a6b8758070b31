// Measures llama.cpp on a card: buffers, the card's used memory, load, prefill and decode.
//
//   on_card FILE.gguf CONTEXT:SEQUENCES:UBATCH:FLASH:KV:LAYERS:CPU_EXPERTS:PROMPT:OUTPUT ...
//
// CONTEXT is in tokens of a sequence, FLASH 0 or 1, KV the format of keys and values (f16, q8_0).
// LAYERS are those on the card (`-ngl`), CPU_EXPERTS the layers whose experts stay in host memory
// (`--n-cpu-moe`). Every sequence gets PROMPT random tokens, then all get OUTPUT tokens together.
// Each case is a process of its own and prints one line of CSV, in the order of `print`.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "llama-ext.h"
#include "llama.h"
#include "tests/llama_cpp/cases.hpp"

namespace {

struct Case {
  unsigned context = 0, sequences = 0, ubatch = 0, layers = 0, cpu_experts = 0, prompt = 0,
           output = 0;
  int flash = 0;
  char kv[16] = {};
};

struct Bytes {
  size_t model = 0, context = 0, compute = 0;
};

std::string error;
void listen(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR && error.empty()) error = text;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// MiB used of all cards, by the driver's own program. 0: it does not answer.
double used_mib() {
  FILE* said = popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", "r");
  double sum = 0, one = 0;
  while (said != nullptr && std::fscanf(said, "%lf", &one) == 1) sum += one;
  if (said != nullptr) pclose(said);
  return sum;
}

void add(Bytes& to, const llama_memory_breakdown_data& from) {
  to.model += from.model;
  to.context += from.context;
  to.compute += from.compute;
}

bool on_card(ggml_backend_buffer_type_t type) {
  const ggml_backend_dev_t device = ggml_backend_buft_get_device(type);
  return !ggml_backend_buft_is_host(type) && device != nullptr &&
         ggml_backend_dev_type(device) != GGML_BACKEND_DEVICE_TYPE_CPU;
}

class Run {
 public:
  Run(llama_context* context, const Case& how)
      : context_(context),
        how_(how),
        vocabulary_(llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context)))),
        batch_(llama_batch_init(2048, 0, 1)) {}

  /// Seconds of every sequence's prompt, one after the other.
  double prefill() {
    llama_memory_clear(llama_get_memory(context_), true);
    const double start = now();
    for (unsigned sequence = 0; sequence < how_.sequences; ++sequence)
      for (unsigned at = 0; at < how_.prompt; at += 2048) {
        batch_.n_tokens = 0;
        for (unsigned i = at; i < std::min(at + 2048, how_.prompt); ++i)
          put(sequence, i, i + 1 == how_.prompt);
        decode();
      }
    llama_synchronize(context_);
    return now() - start;
  }

  /// Seconds of `count` steps that give every sequence a token.
  double generate(unsigned first, unsigned count) {
    const double start = now();
    for (unsigned step = first; step < first + count; ++step) {
      batch_.n_tokens = 0;
      for (unsigned sequence = 0; sequence < how_.sequences; ++sequence)
        put(sequence, how_.prompt + step, true);
      decode();
      llama_synchronize(context_);
    }
    return now() - start;
  }

 private:
  void put(unsigned sequence, unsigned position, bool output) {
    const int at = batch_.n_tokens++;
    batch_.token[at] = static_cast<llama_token>(random_() % static_cast<unsigned>(vocabulary_));
    batch_.pos[at] = static_cast<llama_pos>(position);
    batch_.n_seq_id[at] = 1;
    batch_.seq_id[at][0] = static_cast<llama_seq_id>(sequence);
    batch_.logits[at] = output ? 1 : 0;
  }

  void decode() {
    if (const int status = llama_decode(context_, batch_); status != 0)
      refuse("llama_decode: " + std::to_string(status) + " " + error);
  }

  llama_context* context_;
  const Case& how_;
  int vocabulary_;
  llama_batch batch_;
  std::mt19937 random_{1};
};

constexpr unsigned kWarmUp = 4;  // steps before the timed ones: graphs are captured in them

void answer(const char* file, const Case& how) {
  ggml_backend_load_all();  // back ends that are libraries of their own, beside the program
  const double before = used_mib();
  llama_model_params load = llama_model_default_params();
  load.n_gpu_layers = static_cast<int>(how.layers);
  std::vector<std::string> names;
  for (unsigned i = 0; i < how.cpu_experts; ++i)
    names.push_back("blk\\." + std::to_string(i) + "\\.ffn_(up|down|gate|gate_up)_(ch|)exps");
  std::vector<llama_model_tensor_buft_override> moved;
  for (const auto& name : names) moved.push_back({name.c_str(), ggml_backend_cpu_buffer_type()});
  moved.push_back({nullptr, nullptr});
  load.tensor_buft_overrides = moved.data();
  const double start = now();
  llama_model* model = llama_model_load_from_file(file, load);
  if (model == nullptr) refuse(error);
  const double loaded = now() - start;
  llama_context_params with = llama_context_default_params();
  with.n_ctx = how.context * how.sequences;
  with.n_seq_max = how.sequences;
  with.n_ubatch = how.ubatch;
  with.n_outputs_max = how.sequences;
  with.kv_unified = false;
  with.swa_full = false;
  with.flash_attn_type =
      how.flash != 0 ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  with.type_k = with.type_v = type_named(how.kv);
  with.n_threads = with.n_threads_batch =
      static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN) / 2));
  llama_context* context = llama_init_from_model(model, with);
  if (context == nullptr) refuse(error);
  const double idle = used_mib();
  Bytes card, host;
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context))
    add(on_card(type) ? card : host, bytes);
  if (how.layers > 0 && card.model == 0) refuse("no card took the layers");
  Run run(context, how);
  run.prefill();
  run.generate(0, kWarmUp);
  const double prefill = std::min(run.prefill(), run.prefill());
  run.generate(0, kWarmUp);
  const double decode = run.generate(kWarmUp, how.output) / how.output;
  std::printf("measured,%zu,%zu,%zu,%zu,%zu,%zu,%.0f,%.0f,%.0f,%.4f,%.6f,%.6f\n", card.model,
              card.context, card.compute, host.model, host.context, host.compute, before, idle,
              used_mib(), loaded, prefill, decode);
  std::fflush(stdout);
}

Case read(const char* text) {
  Case c;
  if (std::sscanf(text, "%u:%u:%u:%d:%15[^:]:%u:%u:%u:%u", &c.context, &c.sequences, &c.ubatch,
                  &c.flash, c.kv, &c.layers, &c.cpu_experts, &c.prompt, &c.output) != 9 ||
      c.sequences == 0 || c.output == 0)
    refuse(std::string("no case: ") + text);
  return c;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr,
                 "usage: on_card FILE.gguf "
                 "CONTEXT:SEQUENCES:UBATCH:FLASH:KV:LAYERS:CPU_EXPERTS:PROMPT:OUTPUT ...\n");
    return 2;
  }
  llama_log_set(listen, nullptr);
  const auto one = [](const char* file, const char* text) { answer(file, read(text)); };
  run_cases(count, arguments, one);
}
