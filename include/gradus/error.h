// Errors. A user's mistake is an exception whose class is named as TensorFlow names it; the message
// says which op, what was got, what was expected and what to do. Our own mistakes are
// InternalError. The host process is never aborted.
#pragma once
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>

namespace gradus {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);  // with the line of the call that failed, if known
  explicit Error(const char* message) : Error(std::string(message)) {}

  // "[matmul] inner sizes 3 and 2 differ ...", then "\n  at main.cpp:12" for whoever called.
  const char* what() const noexcept override;
  const char* message() const noexcept { return std::runtime_error::what(); }  // without the line

  void name_line(std::source_location where);  // unless a line is named already

 private:
  std::shared_ptr<const std::string> with_line_;
};

class InvalidArgumentError : public Error {
  using Error::Error;
};  // wrong shape, dtype, value
class NotFoundError : public Error {
  using Error::Error;
};  // a name or file that is not there
class AlreadyExistsError : public Error {
  using Error::Error;
};
class OutOfRangeError : public Error {
  using Error::Error;
};  // past the end of something
class FailedPreconditionError : public Error {
  using Error::Error;
};  // e.g. uninitialised variable
class ResourceExhaustedError : public Error {
  using Error::Error;
};  // out of memory
class UnimplementedError : public Error {
  using Error::Error;
};
class CancelledError : public Error {
  using Error::Error;
};  // interrupted by the user
class DataLossError : public Error {
  using Error::Error;
};  // damaged file
class UsageError : public Error {
  using Error::Error;
};  // a call in the wrong state, e.g. a tape used twice
class LookupError : public Error {
  using Error::Error;
};  // no gradient registered
class InternalError : public Error {
  using Error::Error;
};  // a bug in Gradus

}  // namespace gradus
