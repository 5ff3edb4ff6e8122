// The message of the error that a call throws.
#pragma once
#include <string>

#include "gradus/gradus.h"

namespace gradus {

template <class E = InvalidArgumentError, class F>
std::string message(F call) {
  try {
    call();
  } catch (const E& e) {
    return e.message();
  } catch (const std::exception& e) {
    return std::string("an error of another class: ") + e.what();
  }
  return "no error";
}

}  // namespace gradus
