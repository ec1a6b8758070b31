// What llama.cpp itself reserves for a GGUF file, to the byte, against the estimate of that file.
//
// data/llama_cpp_memory.csv holds llama.cpp's own figures (commit 0c1e5709 of 2026-10-01, inside
// llama-cpp-python 0.3.36, for the CPU) for the headers of data/gguf and data/gguf_loaded, as
// tests/llama_cpp/judge.py asked for them. The columns before `weights_bytes` are what was asked:
// tokens of a sequence, sequences, tokens of a micro-batch, rows of logits (0: all), flash
// attention, format of keys and values. `caches` is cells of each cache by layers.
// data/llama_cpp_differences.csv lists figures that differ, and why.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <tuple>

#include "archive.hpp"
#include "csv.hpp"
#include "gguf_model.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/describe/architecture.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::oracle {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  ///< archive, file, figure

std::set<Key> known_differences() {
  std::set<Key> all;
  for (const Row& row : read_csv("llama_cpp_differences.csv"))
    all.insert({row.at("archive"), row.at("file"), row.at("figure")});
  return all;
}

/// Bytes between tensors: a buffer of llama.cpp begins each at a multiple of 32. Source: llama.cpp,
/// ggml/src/ggml-backend.cpp, ggml_backend_cpu_buffer_type_get_alignment.
Size padding(const model::TensorList& list) {
  constexpr Size alignment = 32;
  Size bytes = 0;
  for (const auto& tensor : list.tensors)
    bytes += (alignment - tensor.bytes.count() % alignment) % alignment;
  return bytes;
}

/// A file of the archives with its answers.
struct Judged {
  model::Model model;
  model::QuantisedModel weights;
  Size padding = 0;
};

std::unique_ptr<Judged> judged(const std::string& name, const std::string& bytes) {
  const auto header = model::parse_gguf(bytes, -1, name);
  if (!header) throw std::runtime_error(name + " is not a header");
  auto file = std::make_unique<Judged>();
  try {
    file->model = model_of_header(name, *header);
  } catch (const model::NotDescribed&) {
    return nullptr;
  }
  if (!model::counted_only(file->model.architecture, file->model.model_type).empty())
    return nullptr;
  file->weights = quantise(file->model, model::scheme(file->model.checkpoint_scheme));
  file->padding = padding(header->list);
  return file;
}

Size caches_of(const Judged& file, const Machine& machine, const Row& row) {
  model::Scenario s = test::scenario(file.weights, machine, "llama.cpp");
  s.context = std::stoll(row.at("context"));
  s.batch = std::stoll(row.at("sequences"));
  s.kv_precision = &precision(row.at("kv") == "f16" ? "fp16" : row.at("kv"));
  s.flash_attention = row.at("flash") == "1" ? model::Override::on : model::Override::off;
  const Size layers = std::ssize(file.model.profile.layers);
  return model::kv_cache(s, model::reserved_tokens(s), 0, layers).count();
}

TEST(LlamaCppMemory, WeightsAndCachesAreItsOwn) {
  const Machine machine = test::machine(0, 0, 1000);
  std::map<std::string, Files> archives;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Judged>> files;
  std::set<Key> differ;
  Size cases = 0;
  for (const Row& row : read_csv("llama_cpp_memory.csv")) {
    const std::string& archive = row.at("archive");
    const std::string& name = row.at("file");
    if (!archives.contains(archive)) archives[archive] = read_files(archive);
    if (!files.contains({archive, name}))
      files[{archive, name}] = judged(name, file_of(archives[archive], name + ".gguf"));
    const Judged* file = files.at({archive, name}).get();
    if (file == nullptr) continue;
    ++cases;
    const Size weights = file->weights.total.count() + file->padding;
    const Size caches = caches_of(*file, machine, row);
    for (const auto& [figure, own, other] :
         {std::tuple{"weights", weights, std::stoll(row.at("weights_bytes"))},
          std::tuple{"caches", caches,
                     std::stoll(row.at("kv_bytes")) + std::stoll(row.at("state_bytes"))}}) {
      const Key key{archive, name, figure};
      if (own != other) differ.insert(key);
      if (known_differences().contains(key)) continue;
      EXPECT_EQ(own, other) << figure << " of " << name << ", context " << row.at("context")
                            << ", sequences " << row.at("sequences") << ", flash "
                            << row.at("flash") << ", caches " << row.at("caches");
    }
  }
  for (const Key& key : known_differences())
    EXPECT_TRUE(differ.contains(key))
        << std::get<1>(key) << " " << std::get<2>(key) << " does not differ: remove its row";
  EXPECT_GE(cases, 1200);
}

}  // namespace
}  // namespace headroom::oracle
