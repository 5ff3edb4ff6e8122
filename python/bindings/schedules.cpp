// The learning rates of gradus.keras.optimizers.schedules.
#include "gradus/schedules.h"

#include "function.h"

namespace gradus::python {
namespace {

using namespace keras::schedules;

std::vector<double> reals(PyObject* sequence) {
  const Ref list = Ref::own(PySequence_Fast(sequence, "expected a list of numbers"));
  std::vector<double> numbers;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    numbers.push_back(to_double(PySequence_Fast_GET_ITEM(list.get(), i)));
  return numbers;
}

template <class Decay>
PyObject* of_quotients(const Arguments& a) {
  return wrap(Decay{a.real(1), a.real(2), a.real(3), a.boolean(4)}(a.tensor(0)));
}
constexpr const char* kOfQuotients =
    "step, initial_learning_rate, decay_steps, decay_rate, staircase";

const FunctionEntry entries[] = {
    {"_exponential_decay", kOfQuotients, "A learning rate.", of_quotients<ExponentialDecay>},
    {"_inverse_time_decay", kOfQuotients, "A learning rate.", of_quotients<InverseTimeDecay>},
    {"_piecewise_constant_decay", "step, boundaries, values", "A learning rate.",
     [](const Arguments& a) {
       return wrap(PiecewiseConstantDecay{reals(a[1]), reals(a[2])}(a.tensor(0)));
     }},
    {"_polynomial_decay",
     "step, initial_learning_rate, decay_steps, end_learning_rate, power, cycle",
     "A learning rate.",
     [](const Arguments& a) {
       return wrap(
           PolynomialDecay{a.real(1), a.real(2), a.real(3), a.real(4), a.boolean(5)}(a.tensor(0)));
     }},
    {"_cosine_decay",
     "step, initial_learning_rate, decay_steps, alpha, warmup_target, warmup_steps",
     "A learning rate.",
     [](const Arguments& a) {
       CosineDecay decay{a.real(1), a.real(2), a.real(3)};
       if (!a.is_none(4)) {
         decay.warmup_target = a.real(4);
         decay.warmup_steps = a.real(5);
       }
       return wrap(decay(a.tensor(0)));
     },
     "warmup_steps: as in Keras, there is no warm-up without a target"},
    {"_cosine_decay_restarts",
     "step, initial_learning_rate, first_decay_steps, t_mul, m_mul, alpha", "A learning rate.",
     [](const Arguments& a) {
       return wrap(
           CosineDecayRestarts{a.real(1), a.real(2), a.real(3), a.real(4), a.real(5)}(a.tensor(0)));
     }},
};

}  // namespace

void add_schedule_functions() { add_functions(entries); }

}  // namespace gradus::python
