// A read-only, checked view of a config.json.
//
// `dim` takes the first present key of a list of aliases. Null means absent. A missing key throws
// an error with file, key and architecture. Keys that are read are recorded, so that a test can
// list the ignored ones.
#pragma once

#include <boost/json/fwd.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/blocks/blocks.hpp"

namespace headroom::model {

/// A config that cannot be read. The message names the file, the key, what was found and what would
/// have worked.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A config that may be right, but has an architecture or quantisation that is not described here.
/// Tensor headers still give its counts, if they are available.
class NotDescribed : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

class Config {
 public:
  using Keys = std::initializer_list<std::string_view>;

  /// `origin` names the file in errors.
  Config(boost::json::object object, std::string origin);

  /// A positive (`dim`) or non-negative (`count`) whole number, at most 2^30. The product of two is
  /// exact, even eight times over. Products of three use `times`.
  Size dim(Keys keys) const;
  Size dim(Keys keys, Size fallback) const;
  Size count(Keys keys) const;
  Size count(Keys keys, Size fallback) const;
  /// A positive whole number; 0 where the key is null; `fallback` where it is absent.
  Size dim_or_none(Keys keys, Size fallback) const;
  double number(Keys keys, double fallback) const;
  /// `fallback` where absent; null is false, as in the reference.
  bool flag(Keys keys, bool fallback) const;
  Bias bias(Keys keys, bool fallback) const { return flag(keys, fallback) ? Bias::yes : Bias::no; }
  std::string text(Keys keys) const;
  std::string text(Keys keys, std::string_view fallback) const;
  /// A list of whole numbers, of numbers or of strings; empty when absent.
  std::vector<Size> dims(Keys keys) const;
  std::vector<double> numbers(Keys keys) const;
  std::vector<std::string> texts(Keys keys) const;
  bool has(std::string_view key) const;       ///< present and not null
  bool is_whole(std::string_view key) const;  ///< present and a whole number, not "auto"
  /// A nested object as a Config of its own ("text_config"); throws when absent.
  Config section(std::string_view key) const;
  /// Such a section for one of many similar entries, such as modules in a list by name. Only its
  /// own keys count as unread, not the other entries.
  Config example(std::string_view key) const;
  /// The nested object where there is one, else an empty one.
  Config section_or_empty(std::string_view key) const;
  const boost::json::object& object() const& { return *object_; }
  /// A copy: what a temporary section refers to may go with it.
  boost::json::object object() const&&;
  const std::string& origin() const { return origin_; }

  std::string model_type() const { return text({"model_type"}); }
  /// The first of `architectures`; throws when there is none.
  std::string architecture() const;
  /// The class that is being described: the first of `architectures`, or what `as_class` set.
  const std::string& class_name() const { return class_name_; }
  Config as_class(std::string_view name) const;
  /// This config without a key of its file.
  Config without(std::string_view key) const;
  /// This config with `defaults` for absent keys. Null keys stay null. A key of the file beats a
  /// default of another name of the same size.
  Config with_defaults(const boost::json::object& defaults) const;
  /// This config with the keys of `names` (name → name in its class) under their names in the
  /// class. A mapped key wins if a file has both, as in the reference.
  Config renamed(const boost::json::object& names) const;
  /// Keys that were asked for so far, present or not. Sections and keys are joined by dots.
  std::set<std::string> keys_read() const;
  /// Keys of the file that nobody asked for, in the sections that were read. Sections and keys are
  /// joined by dots.
  std::vector<std::string> keys_unread() const;

  /// Throws ConfigError about `key` in this file: "<origin>: key 'x': <what>".
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;

 private:
  /// The first of `keys` that is present and not null, of the file before a default.
  struct Found {
    std::string_view key;
    const boost::json::value* value = nullptr;
  };
  Found find(Keys keys) const;
  Found need(Keys keys) const;  ///< throws when there is none
  Size whole(const Found& found, Size least) const;
  [[noreturn]] void wrong(const Found& found, std::string_view expected) const;

  std::shared_ptr<const boost::json::object> object_;      ///< never null; copies share it
  std::shared_ptr<const std::set<std::string>> defaults_;  ///< keys that with_defaults added
  std::string origin_, prefix_, class_name_;
  std::shared_ptr<std::set<std::string>> read_;  ///< shared with the sections
};

/// Parses a whole config.json. Bounded in size (32 MiB) and depth; throws ConfigError naming
/// `origin`.
Config parse_config(std::string_view json, std::string origin);

/// The exact product; throws std::overflow_error beyond 2^63 - 1.
Size times(std::span<const Size> factors);
inline Size times(std::initializer_list<Size> factors) {
  return times(std::span<const Size>(factors.begin(), factors.size()));
}

/// num_attention_heads, num_key_value_heads, head_dim with their usual fallbacks.
Heads heads_of(const Config& c);

}  // namespace headroom::model
