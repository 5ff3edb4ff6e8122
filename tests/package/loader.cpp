// loader FILE: runs a saved step. It names no op, so everything that the step needs must come with
// load_function.
#include <gradus/saved_function.h>

#include <iostream>

int main(int, char** argv) {
  const gradus::LoadedFunction step = gradus::load_function(argv[1]);
  const gradus::Tensor x = {{1.0f, 0.0f}, {0.0f, 1.0f}};
  const gradus::Tensor first = step({x})[0];
  std::cout << first << " " << step({x})[0] << "\n";
}
