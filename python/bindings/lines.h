// The line of the Python program that is calling, for reports of tapes.
#pragma once
#include "gradus/call_site.h"

namespace gradus::python {

// Where Python is right now; the same object for the same place, kept for good.
const ForeignLine& current_line();

// While a tape records, what happens in `f` is attributed to the Python line.
template <class F>
auto attributed(F&& f) {
  if (!lines_are_recorded()) return f();
  const AttributeToLine scope(current_line());
  return f();
}

}  // namespace gradus::python
