// What optimizers do to all their variables in one call, and to all gradients before that.
#include "gradus/updates.h"

#include "function.h"
#include "gradus/elementwise.h"
#include "gradus/error.h"
#include "gradus/sparse.h"
#include "tape.h"

namespace gradus::python {
namespace {

Ref as_list(PyObject* sequence) { return Ref::own(PySequence_Fast(sequence, "expected a list")); }

std::vector<Variable> to_variables(PyObject* sequence) {
  const Ref list = as_list(sequence);
  std::vector<Variable> variables;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (!is_variable(item)) raise(PyExc_TypeError, "expected a Variable, got %R", item);
    variables.push_back(variable_of(item));
  }
  return variables;
}

// A gradient with the dtype of its variable.
Gradient gradient_for(const Variable& variable, PyObject* given) {
  Gradient g = to_gradient(given, &variable.shape());
  if (g.is_none() || g.dtype() == variable.dtype()) return g;
  return cast(g, variable.dtype());
}

std::vector<Gradient> to_gradients(PyObject* sequence) {
  const Ref list = as_list(sequence);
  std::vector<Gradient> gradients;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    gradients.push_back(to_gradient(PySequence_Fast_GET_ITEM(list.get(), i)));
  return gradients;
}

PyObject* wrap(const std::vector<Gradient>& gradients) {
  Ref list = Ref::own(PyList_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap_gradient(gradients[i]).release());
  return list.release();
}

// Variables whose gradient is None are left alone; `decays` says which variables do, None all.
PyObject* update(const Arguments& a) {
  const std::optional<UpdateRule> rule = update_rule(a.string(0));
  if (!rule) raise(PyExc_ValueError, "unknown rule %R", a[0]);
  const std::vector<Variable> variables = to_variables(a[1]);
  const Ref gradients = as_list(a[2]), states = as_list(a[3]), settings = as_list(a[6]);
  const std::size_t count = variables.size();
  if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(gradients.get())) != count ||
      static_cast<std::size_t>(PySequence_Fast_GET_SIZE(states.get())) != count)
    raise(PyExc_ValueError, "got %zu variables, %zd gradients and %zd states", count,
          PySequence_Fast_GET_SIZE(gradients.get()), PySequence_Fast_GET_SIZE(states.get()));

  UpdateSettings common{.learning_rate = a.tensor(4), .step = a.tensor(5) + 1};
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(settings.get()); ++i)
    common.settings.push_back(to_double(PySequence_Fast_GET_ITEM(settings.get(), i)));
  if (!a.is_none(7)) common.weight_decay = a.real(7);
  if (!a.is_none(9)) common.product = a.tensor(9);
  const Update step(*rule, common);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    const Gradient g = gradient_for(variables[i], PySequence_Fast_GET_ITEM(gradients.get(), at));
    if (g.is_none()) continue;
    const bool decays = a.is_none(8) || to_bool(PyList_GET_ITEM(a[8], at));
    const std::vector<Variable> state = to_variables(PySequence_Fast_GET_ITEM(states.get(), at));
    on_large(g.values(), [&] { step(variables[i], state, g, decays); });
  }
  Py_RETURN_NONE;
}

PyObject* clip(const Arguments& a) {
  std::vector<Gradient> gradients = to_gradients(a[0]);
  const std::string how = a.string(1);
  const double bound = a.real(2);
  if (how == "global_norm") return wrap(clip_by_global_norm(gradients, bound).first);
  for (Gradient& g : gradients) {
    if (g.is_none()) continue;
    g = how == "norm" ? clip_by_norm(g, bound) : clip_by_value(g, -bound, bound);
  }
  return wrap(gradients);
}

const FunctionEntry entries[] = {
    {"_update",
     "rule, variables, gradients, states, learning_rate, iterations, settings, weight_decay=None, "
     "decays=None, product=None",
     "One step of an optimizer.", update},
    {"_clip", "gradients, how, bound", "Gradients clipped by value, norm or global_norm.", clip},
    {"_scale", "gradients, factor", "Gradients times a number.",
     [](const Arguments& a) {
       std::vector<Gradient> gradients = to_gradients(a[0]);
       for (Gradient& g : gradients)
         if (!g.is_none()) g = scale(g, a.tensor(1, g.dtype()));
       return wrap(gradients);
     }},
};

}  // namespace

void add_update_functions() { add_functions(entries); }

}  // namespace gradus::python
