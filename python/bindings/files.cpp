// Files for gradus/keras and tf.summary: checksums, and HDF5 files, where a node is (value or None,
// attributes, children); a value is a tensor, a str or a list of str.
#include "gradus/hdf5.h"

#include "function.h"
#include "gradus/io.h"

namespace gradus::python {
namespace {

Ref from_value(const Hdf5Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return Ref::own(wrap(*tensor));
  const auto decoded = [](const std::string& s) {
    return Ref::own(
        PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
  };
  if (const auto* one = std::get_if<std::string>(&value)) return decoded(*one);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    Ref list = Ref::own(PyList_New(0));
    for (const std::string& s : *texts) check(PyList_Append(list, decoded(s)));
    return list;
  }
  return Ref::copy(Py_None);
}

Ref from_node(const Hdf5Node& node) {
  const Ref value = from_value(node.value), attributes = Ref::own(PyDict_New()),
            children = Ref::own(PyDict_New());
  for (const auto& [name, each] : node.attributes)
    check(PyDict_SetItem(attributes, text(name), from_value(each)));
  for (const auto& [name, child] : node.children)
    check(PyDict_SetItem(children, text(name), from_node(child)));
  return Ref::own(PyTuple_Pack(3, value.get(), attributes.get(), children.get()));
}

Hdf5Value to_value(PyObject* o) {
  if (o == Py_None) return {};
  if (PyUnicode_Check(o)) return to_string(o);
  if (PyList_Check(o)) {
    std::vector<std::string> texts;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
      PyObject* item = PyList_GET_ITEM(o, i);
      if (!PyUnicode_Check(item)) raise(PyExc_TypeError, "a list of str is wanted, got %R", item);
      texts.push_back(to_string(item));
    }
    return texts;
  }
  return to_tensor(o);
}

Hdf5Node to_node(PyObject* o) {
  if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) != 3 || !PyDict_Check(PyTuple_GET_ITEM(o, 1)) ||
      !PyDict_Check(PyTuple_GET_ITEM(o, 2)))
    raise(PyExc_TypeError, "a node is (value, attributes, children), got %R", o);
  Hdf5Node node;
  node.value = to_value(PyTuple_GET_ITEM(o, 0));
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(PyTuple_GET_ITEM(o, 1), &at, &key, &value))
    node.attributes[to_string(key)] = to_value(value);
  at = 0;
  while (PyDict_Next(PyTuple_GET_ITEM(o, 2), &at, &key, &value))
    node.children[to_string(key)] = to_node(value);
  return node;
}

std::span<const std::byte> bytes_of(PyObject* o) {
  char* bytes = nullptr;
  Py_ssize_t size = 0;
  check(PyBytes_AsStringAndSize(o, &bytes, &size));
  return std::as_bytes(std::span<const char>(bytes, static_cast<std::size_t>(size)));
}

const FunctionEntry entries[] = {
    {"_crc32c", "data", "The CRC-32C of bytes.",
     [](const Arguments& a) { return PyLong_FromUnsignedLong(crc32c(bytes_of(a[0]))); }},
    {"_load_npz", "path", "The tensors of an .npz file by name.",
     [](const Arguments& a) {
       const std::string path = a.string(0);
       const Ref made = Ref::own(PyDict_New());
       for (const auto& [name, tensor] : long_work([&] { return load_npz(path); }))
         check(PyDict_SetItem(made, text(name), Ref::own(wrap(tensor))));
       return Ref(made).release();
     }},
    {"_load_hdf5", "path", "The tree of an HDF5 file.",
     [](const Arguments& a) {
       const std::string path = a.string(0);
       return from_node(long_work([&] { return load_hdf5(path); })).release();
     }},
    {"_parse_hdf5", "data, name", "The tree of an HDF5 file in memory.",
     [](const Arguments& a) {
       const std::span<const std::byte> bytes = bytes_of(a[0]);
       const std::string name = a.string(1);
       return from_node(long_work([&] { return parse_hdf5(bytes, name); })).release();
     }},
    {"_save_hdf5", "path, node", "Writes a tree; the file appears whole or not at all.",
     [](const Arguments& a) -> PyObject* {
       const std::string path = a.string(0);
       const Hdf5Node node = to_node(a[1]);
       long_work([&] {
         save_hdf5(path, node);
         return 0;
       });
       Py_RETURN_NONE;
     }},
    {"_hdf5_bytes", "node", "What _save_hdf5 would write.",
     [](const Arguments& a) {
       const Hdf5Node node = to_node(a[0]);
       const std::string bytes = long_work([&] { return hdf5_bytes(node); });
       return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
     }},
};

}  // namespace

void add_file_functions() { add_functions(entries); }

}  // namespace gradus::python
