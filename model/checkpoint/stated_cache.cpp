#include "model/checkpoint/stated_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "hardware/names.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

/// Formats of both keys: as a word, and as a floating type of so many bits.
struct CacheWord {
  std::string_view word;
  Size bits;
  std::string_view precision;
};
constexpr CacheWord cache_words[] = {{"fp8", 8, "fp8"}, {"nvfp4", 4, "nvfp4"}};

std::string_view precision_of_word(const Config& q, std::string_view key) {
  const std::string found = q.text({key});
  const auto* row = std::ranges::find(cache_words, lower(found), &CacheWord::word);
  if (row == std::end(cache_words))
    q.fail(key, fmt::format("found '{}', expected FP8 or NVFP4", found));
  return row->precision;
}

/// {"num_bits": 8, "type": "float"}. ModelOpt's scales are constants of the checkpoint.
std::string_view precision_of_type(const Config& scheme, std::string_view method) {
  const Size bits = scheme.dim({"num_bits"});
  const std::string type = scheme.text({"type"}, "int");
  const auto* row = std::ranges::find(cache_words, bits, &CacheWord::bits);
  if (type != "float" || row == std::end(cache_words))
    scheme.fail("num_bits",
                fmt::format("found {} bits of type '{}', expected 8 or 4 of float", bits, type));
  if (method.starts_with("modelopt") && scheme.flag({"dynamic"}, false))
    scheme.fail("dynamic", "true: a KV cache with scales made at run time is not described");
  return row->precision;
}

}  // namespace

StatedCache stated_cache(const Config& q, std::string_view method) {
  if (q.has("quantization")) return stated_cache(q.section("quantization"), method);
  StatedCache found;
  constexpr std::string_view scheme = "kv_cache_scheme", word = "kv_cache_quant_algo";
  const bool has_word = q.has(word);  // a key of both versions of ModelOpt, read in any case
  if (q.has(scheme))
    found.precision = q.object().at(scheme).is_object()
                          ? precision_of_type(q.section(scheme), method)
                          : precision_of_word(q, scheme);
  else if (has_word)
    found.precision = precision_of_word(q, word);
  return found;
}

}  // namespace headroom::model
