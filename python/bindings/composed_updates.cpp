// The steps of optimizers that are no single sweep, for one variable each.
#include "function.h"
#include "gradus/elementwise.h"
#include "gradus/optimizers_composed.h"

namespace gradus::python {
namespace {

keras::StepNow step_now(const Arguments& a, int rate, int iterations) {
  return {a.tensor(rate), a.tensor(iterations) + 1};
}

keras::MuonSettings muon_settings(const Arguments& a, int first) {
  keras::MuonSettings settings{.epsilon = a.real(first),
                               .muon_a = a.real(first + 1),
                               .muon_b = a.real(first + 2),
                               .muon_c = a.real(first + 3),
                               .momentum = a.real(first + 4),
                               .ns_steps = a.small(first + 5),
                               .nesterov = a.boolean(first + 6),
                               .rms_rate = {}};
  if (!a.is_none(first + 7)) settings.rms_rate = a.real(first + 7);
  return settings;
}

const FunctionEntry entries[] = {
    {"_lamb",
     "variable, momentum, velocity, gradient, learning_rate, iterations, beta_1, beta_2, epsilon",
     "A step of Lamb.",
     [](const Arguments& a) -> PyObject* {
       const Tensor gradient = a.tensor(3);
       const keras::LambSettings settings{
           .beta_1 = a.real(6), .beta_2 = a.real(7), .epsilon = a.real(8)};
       const Variable variable = variable_of(a[0]), momentum = variable_of(a[1]),
                      velocity = variable_of(a[2]);
       const keras::StepNow now = step_now(a, 4, 5);
       on_large(gradient,
                [&] { keras::lamb_update(variable, momentum, velocity, gradient, now, settings); });
       Py_RETURN_NONE;
     }},
    {"_adafactor",
     "variable, rows, columns, velocity, gradient, learning_rate, iterations, beta_2_decay, "
     "epsilon_1, epsilon_2, clip_threshold, relative_step",
     "A step of Adafactor.",
     [](const Arguments& a) -> PyObject* {
       const Tensor gradient = a.tensor(4);
       const keras::AdafactorSettings settings{.beta_2_decay = a.real(7),
                                               .epsilon_1 = a.real(8),
                                               .epsilon_2 = a.real(9),
                                               .clip_threshold = a.real(10),
                                               .relative_step = a.boolean(11)};
       const Variable variable = variable_of(a[0]), rows = variable_of(a[1]),
                      columns = variable_of(a[2]), velocity = variable_of(a[3]);
       const keras::StepNow now = step_now(a, 5, 6);
       on_large(gradient, [&] {
         keras::adafactor_update(variable, rows, columns, velocity, gradient, now, settings);
       });
       Py_RETURN_NONE;
     }},
    {"_muon",
     "variable, momentum, gradient, learning_rate, iterations, epsilon, muon_a, muon_b, muon_c, "
     "muon_momentum, ns_steps, nesterov, rms_rate",
     "A step of Muon on a matrix.",
     [](const Arguments& a) -> PyObject* {
       const Tensor gradient = a.tensor(2);
       const keras::MuonSettings settings = muon_settings(a, 5);
       const Variable variable = variable_of(a[0]), momentum = variable_of(a[1]);
       const keras::StepNow now = step_now(a, 3, 4);
       on_large(gradient, [&] { keras::muon_update(variable, momentum, gradient, now, settings); });
       Py_RETURN_NONE;
     }},
    {"_muon_adam",
     "variable, momentum, velocity, gradient, learning_rate, iterations, beta_1, beta_2, epsilon, "
     "ratio",
     "A step of Muon on another variable.",
     [](const Arguments& a) -> PyObject* {
       const Tensor gradient = a.tensor(3);
       const keras::MuonSettings settings{.adam_beta_1 = a.real(6),
                                          .adam_beta_2 = a.real(7),
                                          .epsilon = a.real(8),
                                          .adam_lr_ratio = a.real(9)};
       const Variable variable = variable_of(a[0]), momentum = variable_of(a[1]),
                      velocity = variable_of(a[2]);
       const keras::StepNow now = step_now(a, 4, 5);
       on_large(gradient, [&] {
         keras::muon_adam_update(variable, momentum, velocity, gradient, now, settings);
       });
       Py_RETURN_NONE;
     }},
};

}  // namespace

void add_composed_update_functions() { add_functions(entries); }

}  // namespace gradus::python
