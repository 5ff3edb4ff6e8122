// Where the time goes: each op and each step of a compiled function, with the line that called it.
//
//   gd::Profile profile;              // records from here on, on all threads
//   step(x, y);
//   std::cout << profile.table();
//   profile.save("step.json");        // opens in Perfetto (ui) and chrome://tracing
//
// One profile is active at a time. Without one, an op pays one test of a flag.
#pragma once
#include <memory>
#include <string>

namespace gradus {

class Profile {
 public:
  Profile();   // FailedPreconditionError if another one is recording
  ~Profile();  // stops
  Profile(const Profile&) = delete;

  void stop();

  // One row for each op and line, most time first: calls, time, share, bytes moved and how fast.
  std::string table(int rows = 30) const;
  // A trace file for Perfetto or Chrome; written aside, then renamed.
  void save(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gradus
