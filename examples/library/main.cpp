// Prints the memory of a model term by term: memory_of MODEL [--bytes 4|2|1] [--batch N]
// [--tokens N] [--without kv-cache|activations|overhead] [--with optimizer].
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hardware/catalogue.hpp"
#include "hardware/quantity_text.hpp"
#include "memory_of.hpp"
#include "sweep/sources/source.hpp"

namespace {

void apply(memory_of::Switches& switches, std::string_view flag, const std::string& value) {
  using memory_of::Include;
  if (flag == "--bytes")
    switches.bytes_per_element = std::stoll(value);
  else if (flag == "--batch")
    switches.batch = std::stoll(value);
  else if (flag == "--tokens")
    switches.tokens = std::stoll(value);
  else if (flag == "--without" && value == "kv-cache")
    switches.kv_cache = Include::no;
  else if (flag == "--without" && value == "activations")
    switches.activations = Include::no;
  else if (flag == "--without" && value == "overhead")
    switches.overhead = Include::no;
  else if (flag == "--with" && value == "optimizer")
    switches.optimizer = Include::yes;
  else
    throw std::invalid_argument("unknown: " + std::string(flag) + " " + value);
}

void print(const char* term, headroom::Bytes bytes) {
  std::printf("%-12s %14lld bytes  %12s\n", term, static_cast<long long>(bytes.count()),
              headroom::to_text(bytes).c_str());
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2 || count % 2 != 0) {
    std::fputs(
        "usage: memory_of MODEL [--bytes 4|2|1] [--batch N] [--tokens N]\n"
        "                       [--without kv-cache|activations|overhead]...\n"
        "                       [--with optimizer]\n",
        stderr);
    return 2;
  }
  memory_of::Switches switches;
  for (int i = 2; i < count; i += 2) apply(switches, arguments[i], arguments[i + 1]);
  const auto model = headroom::sweep::resolve_model(arguments[1]);
  const auto machine = headroom::parse_machine("h100-sxm-80gb", headroom::shipped_catalogue());
  const auto memory = memory_of::estimate(model, machine, switches);
  std::printf("%s: %lld parameters\n", model.name.c_str(),
              static_cast<long long>(model.profile.parameters));
  print("weights", memory.weights);
  print("kv cache", memory.kv_cache);
  print("activations", memory.activations);
  print("overhead", memory.overhead);
  print("optimizer", memory.optimizer);
  print("total", memory.total());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "memory_of: %s\n", error.what());
  return 1;
}
