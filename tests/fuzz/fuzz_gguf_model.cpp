// libFuzzer target: any bytes as the header of a GGUF file, its keys as a config, its tensors as
// those of the description.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/checkpoint/gguf/config.hpp"
#include "model/checkpoint/gguf/names.hpp"
#include "model/checkpoint/quantisation/stored.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::model;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto header = parse_gguf(bytes, -1, "fuzz");
    if (!header) return 0;
    Model model = make_model("fuzz", gguf_config(*header, header->list), "fuzz");
    model.part = as_gguf(std::move(model.part), *header, header->list);
    model.checkpoint_scheme = gguf_scheme(*header, header->list).name;
    auto gathered = gather_gguf(model.part, header->list);
    attach(model, header->list, std::move(gathered));
    const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
    if (weights.total > header->list.total) __builtin_trap();
  } catch (const FormatError&) {
  } catch (const ConfigError&) {
  }
  return 0;
}
