// The files of one model, wherever they lie: a folder, a repository of the hub, a cache of it.
//
// Nothing here knows what the files mean: sweep/sources/model_from_files.hpp makes a model of them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::sweep {

/// A file of which only ranges are read.
struct BigFile {
  Size size = 0;          ///< bytes
  model::ReadRange read;  ///< short at the end of the file; throws where the bytes cannot be had
};

/// Files are named without their folder: "config.json". One object may be asked by several threads.
class ModelFiles {
 public:
  virtual ~ModelFiles() = default;
  /// Names of all files in the folder, in alphabetical order.
  virtual std::vector<std::string> names() const = 0;
  /// True if there is a file with this name. May be cheaper than `names`.
  virtual bool has(std::string_view name) const = 0;
  /// Name of a file in messages: "models/tiny/config.json".
  virtual std::string origin(std::string_view name) const = 0;
  /// A whole file; of one that is longer, `most` + 1 bytes, so that who reads it can say what is
  /// wrong. Throws std::runtime_error with the origin where it cannot be read or is empty.
  virtual std::string read(const std::string& name, Size most) const = 0;
  /// Throws std::runtime_error with the origin where it cannot be opened.
  virtual BigFile open(const std::string& name) const = 0;
  /// These will be opened next. Remote files may be requested concurrently.
  virtual void expect(const std::vector<std::string>& /*names*/) const {}
};

/// The files of a folder.
std::unique_ptr<ModelFiles> folder_files(std::filesystem::path folder);

}  // namespace headroom::sweep
