// The binary interface of DLPack: the layout and the numbers that its specification fixes.
#pragma once
#include <cstdint>

namespace gradus::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 };  // CPU can read these
enum TypeCode : std::uint8_t { kInt, kUInt, kFloat, kOpaque, kBfloat, kComplex, kBool };
enum Flags : std::uint64_t { kReadOnly = 1 };

struct Device {
  std::int32_t type, id;
};

struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Array {
  void* data;
  Device device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null if row-major
  std::uint64_t byte_offset;
};

struct Managed {  // DLManagedTensor
  Array array;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {  // DLManagedTensorVersioned
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Array array;
};

}  // namespace gradus::dlpack
