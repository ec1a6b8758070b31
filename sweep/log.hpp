// What an unattended command says: one line an event, for people or for machines (--log-format).
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// {"time": …, "event": …, "message": …} as one line of JSON.
std::string log_line(std::string_view event, std::string_view message,
                     const boost::json::object& facts = {});

class Log {
 public:
  /// Throws UsageError for a format that is not known.
  explicit Log(const Options& options);
  /// To standard error: something that a reader should know.
  void say(std::string_view event, std::string_view message,
           const boost::json::object& facts = {}) const;
  /// To standard output: what was done, once.
  void summary(std::string_view event, std::string_view message,
               const boost::json::object& facts = {}) const;

 private:
  bool json_ = false;
};

}  // namespace headroom::sweep
