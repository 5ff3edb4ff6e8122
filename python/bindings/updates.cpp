// What optimizers do to all their variables in one call, and to all gradients before that.
#include "gradus/updates.h"

#include <memory>

#include "function.h"
#include "gradus/batch_mean.h"
#include "gradus/elementwise.h"
#include "gradus/makers.h"
#include "gradus/reduce.h"
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

PyObject* wrap_gradients(const std::vector<Gradient>& gradients) {
  Ref list = Ref::own(PyList_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap_gradient(gradients[i]).release());
  return list.release();
}

// What an optimizer does at every step in the same way: rule, variables, their state, settings.
struct Plan {
  UpdateRule rule;
  std::vector<Ref> objects;  // the variables as Python has them
  std::vector<Variable> variables;
  std::vector<std::vector<Variable>> states;
  std::vector<double> settings;
  double weight_decay = 0;
  std::vector<bool> decays;
};
constexpr const char* kPlan = "gradus.update_plan";

PyObject* plan(const Arguments& a) {
  const std::optional<UpdateRule> rule = update_rule(a.string(0));
  if (!rule) raise(PyExc_ValueError, "unknown rule %R", a[0]);
  auto made = std::make_unique<Plan>();
  made->rule = *rule;
  made->variables = to_variables(a[1]);
  const Ref objects = as_list(a[1]), states = as_list(a[2]), settings = as_list(a[3]);
  const auto count = static_cast<Py_ssize_t>(made->variables.size());
  if (PySequence_Fast_GET_SIZE(states.get()) != count)
    raise(PyExc_ValueError, "got %zd variables and %zd states", count,
          PySequence_Fast_GET_SIZE(states.get()));
  for (Py_ssize_t i = 0; i < count; ++i) {
    made->objects.push_back(Ref::copy(PySequence_Fast_GET_ITEM(objects.get(), i)));
    made->states.push_back(to_variables(PySequence_Fast_GET_ITEM(states.get(), i)));
    made->decays.push_back(a.is_none(5) || to_bool(PyList_GET_ITEM(a[5], i)));
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(settings.get()); ++i)
    made->settings.push_back(to_double(PySequence_Fast_GET_ITEM(settings.get(), i)));
  if (!a.is_none(4)) made->weight_decay = a.real(4);
  const Ref capsule = Ref::own(PyCapsule_New(made.get(), kPlan, [](PyObject* c) {
    delete static_cast<Plan*>(PyCapsule_GetPointer(c, kPlan));
  }));
  made.release();
  return Ref(capsule).release();
}

// Whether these are the variables of the plan, in its order, and each has a gradient.
bool is_usual(const Plan& plan, PyObject* gradients, PyObject* variables) {
  const auto count = static_cast<Py_ssize_t>(plan.objects.size());
  if (PySequence_Fast_GET_SIZE(gradients) != count || PySequence_Fast_GET_SIZE(variables) != count)
    return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PySequence_Fast_GET_ITEM(variables, i) != plan.objects[static_cast<std::size_t>(i)] ||
        PySequence_Fast_GET_ITEM(gradients, i) == Py_None)
      return false;
  }
  return true;
}

// False, with nothing done, if the step is not the usual one.
PyObject* follow(const Arguments& a) {
  auto* plan = static_cast<Plan*>(PyCapsule_GetPointer(a[0], kPlan));
  if (!plan) throw PythonError();
  const auto is_listed = [](PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); };
  if (!is_listed(a[1]) || !is_listed(a[2])) Py_RETURN_FALSE;
  const Ref gradients = as_list(a[1]), variables = as_list(a[2]);
  if (!is_usual(*plan, gradients, variables)) Py_RETURN_FALSE;
  const Update step(plan->rule, {.learning_rate = a.tensor(3),
                                 .step = a.tensor(4) + 1,
                                 .settings = plan->settings,
                                 .weight_decay = plan->weight_decay,
                                 .product = a.is_none(5) ? Tensor(1) : a.tensor(5)});
  for (std::size_t i = 0; i < plan->variables.size(); ++i) {
    const Variable& v = plan->variables[i];
    const Gradient g =
        gradient_for(v, PySequence_Fast_GET_ITEM(gradients.get(), static_cast<Py_ssize_t>(i)));
    on_large(g.values(), [&] { step(v, plan->states[i], g, plan->decays[i]); });
  }
  Py_RETURN_TRUE;
}

PyObject* clip(const Arguments& a) {
  std::vector<Gradient> gradients = to_gradients(a[0]);
  const std::string how = a.string(1);
  const double bound = a.real(2);
  if (how == "global_norm") return wrap_gradients(clip_by_global_norm(gradients, bound).first);
  for (Gradient& g : gradients) {
    if (g.is_none()) continue;
    g = how == "norm" ? clip_by_norm(g, bound) : clip_by_value(g, -bound, bound);
  }
  return wrap_gradients(gradients);
}

const FunctionEntry entries[] = {
    {"_update_plan", "rule, variables, states, settings, weight_decay=None, decays=None",
     "What the steps of an optimizer have in common.", plan},
    {"_update", "plan, gradients, variables, learning_rate, iterations, product=None",
     "One step of an optimizer on all variables of a plan; False if these are others.", follow},
    {"_batch_mean", "values", "The mean of the losses of a batch; 0 of an empty one.",
     [](const Arguments& a) {
       const Tensor values = a.tensor(0);
       if (values.rank() == 0) return wrap(values);
       return wrap(on_large(values, [&] { return keras::batch_mean(values); }));
     }},
    {"_clip", "gradients, how, bound", "Gradients clipped by value, norm or global_norm.", clip},
    {"_scale", "gradients, factor", "Gradients times a number.",
     [](const Arguments& a) {
       std::vector<Gradient> gradients = to_gradients(a[0]);
       for (Gradient& g : gradients)
         if (!g.is_none()) g = scale(g, a.tensor(1, g.dtype()));
       return wrap_gradients(gradients);
     }},
};

}  // namespace

void add_update_functions() { add_functions(entries); }

}  // namespace gradus::python
