// A model from its files: the config, the headers of its tensors, or both.
#pragma once

#include <optional>
#include <string>

#include "model/checkpoint/model.hpp"
#include "sweep/sources/model_files.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {

/// Files that are read in addition to a config.json that describes the model.
enum class ReadHeaders {
  always,       ///< the headers of the tensors where there are any: exact types and bytes
  when_needed,  ///< nothing, unless the config is missing or does not describe the model
};

/// Request for a model from some files.
struct FileRequest {
  std::string name;    ///< name of the model
  std::string source;  ///< origin of the files, for Model::source
  std::string file{};  ///< the one file that was named; empty: whatever the files have
  std::vector<std::pair<std::string, std::string>> overrides{};  ///< as in ModelReference
  ReadHeaders headers = ReadHeaders::always;
};

/// The model that `files` hold; nothing where they hold none (and no file was named). Reads
/// config.json and headers, never weights; the checkpoint decides if the config does not say
/// whether the head is tied. A named config.json is read alone, and so is one with overrides. If no
/// config describes the tensors, the model has counts and bytes, and `undescribed` has the reason.
/// Throws ConfigError, FormatError or std::runtime_error that name the file and what would have
/// worked.
std::optional<model::Model> model_from_files(const ModelFiles& files, const FileRequest& request);

/// The model of a config, the request's overrides applied: the name says them. Throws ConfigError
/// for one without effect.
model::Model model_from_config(const model::Config& config, const FileRequest& request);

}  // namespace headroom::sweep
