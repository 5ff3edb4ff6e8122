#include "gradus/profile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "graph/places.h"
#include "graph/profiling.h"

namespace gradus {
namespace {

struct Event {
  std::string name;  // copied: loops die with their program
  std::source_location where;
  double start, duration;  // microseconds
  double bytes, flops;
  std::uint32_t thread;
};

struct Log {
  std::mutex mutex;
  std::vector<Event> events;
  bool taken = false;
};
Log& log() {
  static Log log;
  return log;
}

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> next{0};
  thread_local const std::uint32_t mine = next++;
  return mine;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "\"";
}

}  // namespace

ProfiledKernel::ProfiledKernel(const Op& op, const void* attrs, const char* label,
                               std::source_location where, std::span<const View> in,
                               std::span<const View> out)
    : label_(label ? label : op.name()), where_(where) {
  for (const View& v : in) bytes_ += static_cast<double>(v.count()) * size_of(v.dtype);
  for (const View& v : out) bytes_ += static_cast<double>(v.count()) * size_of(v.dtype);
  if (op.info.flops) flops_ = op.info.flops({op, attrs, in});
  start_ = now();
}

ProfiledKernel::~ProfiledKernel() {
  const double end = now();
  Log& all = log();
  const std::lock_guard lock(all.mutex);
  all.events.push_back({label_, where_, start_, end - start_, bytes_, flops_, thread_number()});
}

struct Profile::State {
  std::vector<Event> events;
  double start = 0;
  bool recording = true;
};

Profile::Profile() : state_(std::make_unique<State>()) {
  Log& all = log();
  const std::lock_guard lock(all.mutex);
  if (all.taken) {
    fail<FailedPreconditionError>("[Profile] another profile is recording; stop it first");
  }
  all.taken = true;
  all.events.clear();
  state_->start = now();
  is_profiling.store(true);
}

Profile::~Profile() { stop(); }

void Profile::stop() {
  if (!state_->recording) return;
  is_profiling.store(false);
  Log& all = log();
  const std::lock_guard lock(all.mutex);
  state_->events = std::move(all.events);
  all.events.clear();
  all.taken = false;
  state_->recording = false;
}

namespace {

// The events so far; those of a profile that is still recording are looked at under the lock.
template <class F>
auto with_events(bool recording, const std::vector<Event>& own, const F& f) {
  if (!recording) return f(own);
  const std::lock_guard lock(log().mutex);
  return f(log().events);
}

}  // namespace

std::string Profile::table(int rows) const {
  return with_events(state_->recording, state_->events, [&](const std::vector<Event>& events) {
    struct Row {
      int calls = 0;
      double time = 0, bytes = 0, flops = 0;
    };
    std::map<std::pair<std::string, std::string>, Row> table;
    double total = 0;
    for (const Event& e : events) {
      Row& row = table[{e.name, place(e.where)}];
      ++row.calls;
      row.time += e.duration;
      row.bytes += e.bytes;
      row.flops += e.flops;
      total += e.duration;
    }
    std::vector<std::pair<std::pair<std::string, std::string>, Row>> sorted(table.begin(),
                                                                            table.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    std::string text = "     time   share   calls    GB/s  GFLOP/s  op (line)\n";
    char line[256];
    for (const auto& [key, row] : sorted) {
      if (rows-- == 0) {
        text += "  ...\n";
        break;
      }
      std::snprintf(line, sizeof line, "%9.1f  %5.1f%%  %6d  %6.1f  %7.1f  ", row.time,
                    100 * row.time / std::max(total, 1e-9), row.calls,
                    row.bytes / std::max(row.time, 1e-9) * 1e-3,
                    row.flops / std::max(row.time, 1e-9) * 1e-3);
      text += line + key.first + " (" + key.second + ")\n";
    }
    std::snprintf(line, sizeof line, "%9.1f us in %zu kernels\n", total, events.size());
    return text + line;
  });
}

void Profile::save(const std::string& path) const {
  const std::string aside = path + ".part";
  with_events(state_->recording, state_->events, [&](const std::vector<Event>& events) {
    std::ofstream file(aside);
    file << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    const char* separator = "\n";
    for (const Event& e : events) {
      char numbers[160];
      std::snprintf(numbers, sizeof numbers,
                    "\"ph\": \"X\", \"pid\": 1, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f", e.thread,
                    e.start - state_->start, e.duration);
      file << separator << "{\"name\": " << quoted(e.name) << ", " << numbers
           << ", \"args\": {\"line\": " << quoted(place(e.where)) << ", \"bytes\": " << e.bytes
           << ", \"flops\": " << e.flops << "}}";
      separator = ",\n";
    }
    file << "\n]}\n";
    file.close();
    if (!file || std::rename(aside.c_str(), path.c_str()) != 0) {
      std::remove(aside.c_str());
      fail<NotFoundError>("[Profile.save] cannot write '", path, "'; does the folder exist?");
    }
    return 0;
  });
}

}  // namespace gradus
