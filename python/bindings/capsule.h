// Objects of C++ that Python holds and hands back, and sequences of its objects.
#pragma once
#include <memory>
#include <vector>

#include "convert.h"
#include "object.h"

namespace gradus::python {

template <class T>
void drop(PyObject* capsule) {
  delete static_cast<T*>(PyCapsule_GetPointer(capsule, nullptr));
}
template <class T>
PyObject* capsule(std::unique_ptr<T> owned) {
  PyObject* made = PyCapsule_New(owned.get(), nullptr, drop<T>);
  if (!made) throw PythonError();
  owned.release();
  return made;
}
template <class T>
T& held(PyObject* o) {
  auto* p = static_cast<T*>(PyCapsule_GetPointer(o, nullptr));
  if (!p) throw PythonError();
  return *p;
}

inline std::vector<Ref> items(PyObject* sequence) {
  const Ref list = Ref::own(PySequence_Tuple(sequence));
  std::vector<Ref> all;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.get()); ++i)
    all.push_back(Ref::copy(PyTuple_GET_ITEM(list.get(), i)));
  return all;
}
inline std::vector<Tensor> tensors(PyObject* sequence) {
  std::vector<Tensor> all;
  for (const Ref& item : items(sequence)) all.push_back(to_tensor(item));
  return all;
}

}  // namespace gradus::python
