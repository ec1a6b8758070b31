// Bytes that llama.cpp itself reserves for GGUF files, and the program's figures for the same.
//
// data/llama_cpp_memory.csv holds llama.cpp's own figures (commit 0c1e5709 of 2026-10-01, inside
// llama-cpp-python 0.3.36, for the CPU) for the headers of data/gguf and data/gguf_loaded, as
// tests/llama_cpp/judge.py asked for them. The columns before `weights_bytes` are what was asked:
// context (tokens of a sequence), sequences, ubatch, outputs (rows of logits, 0: all), flash
// attention, kv (format of the cache). `caches` is layers of each cache by cells.
// data/llama_cpp_differences.csv lists figures that differ, and why.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "archive.hpp"
#include "csv.hpp"
#include "hardware/machine.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::oracle {

/// A file of the archives with its weights as they are stored.
struct Judged {
  model::Model model;
  model::QuantisedModel weights;
  Size padding = 0;  ///< bytes between tensors in a buffer of llama.cpp
};

/// The model of a header; null where its architecture or its run is not described.
std::unique_ptr<Judged> of_header(const Files& files, const std::string& name);
/// The model of the config that a file was converted from; null where llama.cpp does not convert
/// it.
std::unique_ptr<Judged> of_config(const Files& files, const std::string& name);

/// Files of the archives, each made once by `make`.
class JudgedFiles {
 public:
  using Make = std::unique_ptr<Judged> (*)(const Files&, const std::string& name);
  explicit JudgedFiles(Make make) : make_(make) {}
  /// The file of a row; null where there is no estimate.
  const Judged* of(const Row& row);

 private:
  Make make_;
  std::map<std::string, Files> archives_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Judged>> files_;
};

/// Bytes of one case.
struct CaseBytes {
  Size weights, caches, compute;
};
CaseBytes estimated(const Judged& file, const Row& row);
CaseBytes reserved(const Row& row);

}  // namespace headroom::oracle
