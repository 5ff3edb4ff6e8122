// Graph programs for gradus.compat.v1: building, differentiating and running them. Names, scopes
// and collections are Python's.
#include "graph_program.h"

#include "capsule.h"
#include "function.h"
#include "gradus/tracing.h"
#include "tape.h"

namespace gradus::python {

namespace {

struct HeldPlan {
  std::shared_ptr<Session::Plan> plan;
  std::vector<DType> dtypes;  // of what is fed
};

std::vector<Operation> operations(const GraphProgram& program, PyObject* nodes) {
  std::vector<Operation> all;
  for (const Ref& item : items(nodes)) all.emplace_back(program.graph(), to_int(item));
  return all;
}
template <class Numbers>
Ref list_of(const Numbers& numbers) {
  Ref list = Ref::own(PyList_New(0));
  for (const auto n : numbers) check(PyList_Append(list, Ref::own(PyLong_FromUnsignedLong(n))));
  return list;
}

Session::Request request(const Arguments& a, const GraphProgram& program) {
  Session::Request r{
      .fetches = tensors(a[2]), .fed = tensors(a[3]), .operations = operations(program, a[4])};
  for (const Ref& item : items(a[5])) r.variables.push_back(variable_of(item));
  return r;
}

PyObject* prepare(const Arguments& a) {
  const Session::Request r = request(a, program_of(a[1]));
  auto plan = std::make_unique<HeldPlan>();
  Session& session = held<Session>(a[0]);
  plan->plan = long_work([&] { return session.prepare(r); });
  for (const Tensor& t : r.fed) plan->dtypes.push_back(t.dtype());
  return capsule(std::move(plan));
}

PyObject* run(const Arguments& a) {
  HeldPlan& plan = held<HeldPlan>(a[1]);
  std::vector<Tensor> values;
  const Py_ssize_t count = PyList_GET_SIZE(a[2]);
  for (Py_ssize_t i = 0; i < count; ++i)
    values.push_back(to_tensor(PyList_GET_ITEM(a[2], i), plan.dtypes[static_cast<std::size_t>(i)]));
  Session& session = held<Session>(a[0]);
  return wrap(long_work([&] { return session.run(*plan.plan, std::move(values)); }));
}

PyObject* differentiate(const Arguments& a) {
  std::vector<Source> xs;
  for (const Ref& item : items(a[1])) xs.push_back(to_source(item));
  GraphGradientOptions options{.stop_gradients = tensors(a[3]),
                               .unconnected = to_unconnected(a[4])};
  for (const Ref& item : items(a[2]))
    options.grad_ys.push_back(item == Py_None ? Tensor() : to_tensor(item));
  const std::vector<Gradient> found = gradients(tensors(a[0]), xs, options);
  Ref list = Ref::own(PyList_New(0));
  for (const Gradient& g : found) check(PyList_Append(list, wrap_gradient(g)));
  return list.release();
}

PyObject* place(const Arguments& a) {
  if (!is_tensor(a[0])) Py_RETURN_NONE;
  const auto place = graph_place(tensor_of(a[0]));
  if (!place) Py_RETURN_NONE;
  return Py_BuildValue("KIL", place->program, place->value, place->node);
}

PyObject* node(const Arguments& a) {
  const GraphProgram::NodeInfo info = program_of(a[0]).node(static_cast<std::size_t>(a.integer(1)));
  return Py_BuildValue("sNNN", info.op.c_str(), list_of(info.operands).release(),
                       list_of(info.results).release(), list_of(info.after).release());
}

const FunctionEntry entries[] = {
    {"_program", "", "A new graph program.",
     [](const Arguments&) {
       auto program = std::make_unique<GraphProgram>();
       program->hide_sizes();
       return capsule(std::move(program));
     }},
    {"_program_number", "program", "The number of a program, as in _place.",
     [](const Arguments& a) { return PyLong_FromUnsignedLongLong(program_of(a[0]).number()); }},
    {"_place", "tensor", "(program, value, node) of a tensor of a program, or None.", place},
    {"_plain_shape", "tensor", "The shape of a tensor, a TensorShape.",
     [](const Arguments& a) { return wrap_shape(tensor_of(a[0]).shape()); }},
    {"_program_size", "program", "How many nodes there are.",
     [](const Arguments& a) { return PyLong_FromSize_t(program_of(a[0]).node_count()); }},
    {"_program_node", "program, node", "(op, operands, results, nodes before it).", node},
    {"_program_tensor", "program, value", "The tensor with a number.",
     [](const Arguments& a) {
       return wrap(program_of(a[0]).tensor(static_cast<std::uint32_t>(a.integer(1))));
     }},
    {"_program_placeholder", "program, dtype, shape, name", "A value that is fed; -1 is any size.",
     [](const Arguments& a) {
       return wrap(program_of(a[0]).placeholder(a.dtype(1, float32), a.shape(2), a.string(3)));
     }},
    {"_program_constant", "program, value", "A value as a node.",
     [](const Arguments& a) { return wrap(program_of(a[0]).constant(a.tensor(1))); }},
    {"_program_no_op", "program", "A node that does nothing.",
     [](const Arguments& a) { return PyLong_FromLongLong(program_of(a[0]).group({}).node()); }},
    {"_program_default", "program", "The program that this thread builds.",
     [](const Arguments& a) -> PyObject* {
       program_of(a[0]).make_default();
       Py_RETURN_NONE;
     }},
    {"_program_seed", "program, seed", "The seed of the graph, or None.",
     [](const Arguments& a) -> PyObject* {
       program_of(a[0]).set_seed(a.integer_or_none(1));
       Py_RETURN_NONE;
     }},
    {"_program_scope", "program", "Until the result is dropped, new nodes belong to the program.",
     [](const Arguments& a) {
       return capsule(std::make_unique<GraphProgram::Scope>(program_of(a[0])));
     }},
    {"_program_after", "program, nodes", "Until the result is dropped, nodes run after these.",
     [](const Arguments& a) {
       return capsule(std::make_unique<GraphProgram::After>(program_of(a[0]),
                                                            operations(program_of(a[0]), a[1])));
     }},
    {"_graph_gradients", "ys, xs, grad_ys, stop_gradients, unconnected_gradients",
     "Gradients as nodes.", differentiate},
    {"_value_before_call", "tensor",
     "The value of a tensor that does not depend on a function's arguments, or None.",
     [](const Arguments& a) -> PyObject* {
       const std::optional<Tensor> value = value_before_call(a.tensor(0));
       if (!value) Py_RETURN_NONE;
       return wrap(*value);
     }},
    {"_graph_jacobian", "y, x", "A Jacobian as nodes.",
     [](const Arguments& a) { return wrap(graph_jacobian(a.tensor(0), to_source(a[1]))); }},
    {"_session", "program", "A new session.",
     [](const Arguments& a) { return capsule(std::make_unique<Session>(program_of(a[0]))); }},
    {"_session_prepare", "session, program, fetches, fed, nodes, variables", "A plan of a run.",
     prepare},
    {"_session_run", "session, plan, values", "Runs a plan.", run},
    {"_session_explain", "session, program, fetches, fed, nodes, variables", "A run, in words.",
     [](const Arguments& a) {
       Session& session = held<Session>(a[0]);
       const Session::Request r = request(a, program_of(a[1]));
       return text(long_work([&] { return session.explain(r); })).release();
     }},
    {"_session_value", "session, variable", "The value of a variable.",
     [](const Arguments& a) {
       Session& session = held<Session>(a[0]);
       const Variable& v = variable_of(a[1]);
       return wrap(long_work([&] { return session.value(v); }));
     }},
    {"_session_set", "session, variable, value", "Sets the value of a variable.",
     [](const Arguments& a) -> PyObject* {
       Session& session = held<Session>(a[0]);
       const Variable& v = variable_of(a[1]);
       const Tensor value = to_tensor(a[2], v.dtype());
       long_work([&] { session.set_value(v, value); });
       Py_RETURN_NONE;
     }},
    {"_session_has", "session, variable", "Whether a variable has a value.",
     [](const Arguments& a) {
       Session& session = held<Session>(a[0]);
       const Variable& v = variable_of(a[1]);
       return PyBool_FromLong(long_work([&] { return session.is_initialized(v); }));
     }},
};

}  // namespace

const GraphProgram& program_of(PyObject* o) { return held<GraphProgram>(o); }

void add_graph_functions() { add_functions(entries); }

}  // namespace gradus::python
