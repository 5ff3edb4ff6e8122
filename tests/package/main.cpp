#include <gradus/dtype.h>

#include <iostream>

int main() {
  std::cout << gradus::name_of(gradus::float32) << "\n";
  return gradus::dtype_of("bfloat16") == gradus::bfloat16 ? 0 : 1;
}
