// Messages of an unattended command: one line an event, for people or programs (--log-format).
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// {"time": …, "event": …, "message": …} as one line of JSON.
std::string log_line(std::string_view event, std::string_view message,
                     const boost::json::object& facts);

class Log {
 public:
  /// Throws UsageError for an unknown format.
  explicit Log(const Options& options);
  /// Writes a note or a warning to standard error.
  void say(std::string_view event, std::string_view message,
           const boost::json::object& facts) const;
  /// Writes the result to standard output, once.
  void summary(std::string_view event, std::string_view message,
               const boost::json::object& facts) const;

 private:
  bool json_ = false;
};

}  // namespace headroom::sweep
