// The message of a StoreError.
#pragma once

#include <functional>
#include <string>

#include "report/store.hpp"

namespace headroom::report {

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StoreError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace headroom::report
