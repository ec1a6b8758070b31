#include "sweep/model_from_files.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view config_name = "config.json";
/// As many bytes as model::parse_config accepts.
constexpr Size most_config = Size{32} << 20;

}  // namespace

std::optional<model::Model> model_from_files(const ModelFiles& files, const FileRequest& request) {
  const std::string file(request.file.empty() ? config_name : request.file);
  if (request.file.empty() && !files.has(file)) return std::nullopt;
  FileRequest named = request;
  named.source = files.origin(file);
  return model_from_config(files.read(file, most_config), files.origin(file), named);
}

}  // namespace headroom::sweep
