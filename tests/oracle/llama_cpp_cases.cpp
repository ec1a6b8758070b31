#include "llama_cpp_cases.hpp"

#include <boost/json.hpp>
#include <stdexcept>

#include "gguf_model.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/describe/architecture.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/memory/activation.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::oracle {
namespace {

/// A buffer of llama.cpp begins each tensor at a multiple of 32. Source: llama.cpp,
/// ggml/src/ggml-backend.cpp, ggml_backend_cpu_buffer_type_get_alignment.
Size padding(const model::TensorList& list) {
  constexpr Size alignment = 32;
  Size bytes = 0;
  for (const auto& tensor : list.tensors)
    bytes += (alignment - tensor.bytes.count() % alignment) % alignment;
  return bytes;
}

}  // namespace

std::unique_ptr<Judged> of_header(const Files& files, const std::string& name) {
  const auto header = model::parse_gguf(file_of(files, name + ".gguf"), -1, name);
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

std::unique_ptr<Judged> of_config(const Files& files, const std::string& name) {
  const auto text = files.find(name + ".json");
  if (text == files.end()) return nullptr;
  auto file = std::make_unique<Judged>();
  try {
    const auto row = boost::json::parse(text->second).as_object();
    file->model = model::make_model(name, {row.at("config").as_object(), name}, "");
  } catch (const model::ConfigError&) {
    return nullptr;
  }
  if (!serves_class(model::engine("llama.cpp"), file->model) || file->model.encoder_decoder)
    return nullptr;
  file->weights = quantise(file->model, model::scheme("fp16"));
  return file;
}

const Judged* JudgedFiles::of(const Row& row) {
  const std::string& archive = row.at("archive");
  if (!archives_.contains(archive)) archives_[archive] = read_files(archive);
  const auto [at, added] = files_.try_emplace({archive, row.at("file")});
  if (added) at->second = make_(archives_[archive], row.at("file"));
  return at->second.get();
}

CaseBytes estimated(const Judged& file, const Row& row) {
  const Machine machine = test::machine(0, 0, 1000);
  const bool all_logits = row.at("outputs") == "0";  // as llama-server did up to b9775
  model::Scenario s =
      test::scenario(file.weights, machine, all_logits ? "llama.cpp-b9775" : "llama.cpp");
  s.context = std::stoll(row.at("context"));
  s.batch = std::stoll(row.at("sequences"));
  s.kv_precision = &precision(row.at("kv") == "f16" ? "fp16" : row.at("kv"));
  s.flash_attention = row.at("flash") == "1" ? model::Override::on : model::Override::off;
  const Size layers = std::ssize(file.model.profile.layers);
  return {.weights = file.weights.total.count() + file.padding,
          .caches = model::kv_cache(s, model::reserved_tokens(s), 0, layers).count(),
          .compute = model::activations(s, model::pass_tokens(s), 1).count()};
}

CaseBytes reserved(const Row& row) {
  const auto bytes = [&](std::string_view column) { return std::stoll(row.find(column)->second); };
  return {.weights = bytes("weights_bytes"),
          .caches = bytes("kv_bytes") + bytes("state_bytes"),
          .compute = bytes("compute_bytes")};
}

}  // namespace headroom::oracle
