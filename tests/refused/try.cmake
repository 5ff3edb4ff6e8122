# Compiles refused/*.cpp once for each of their cases, which must fail with the sentence that stands
# behind the case, and once without a case, which must not.
# cmake -DCOMPILER=<c++> -DINCLUDE=<folder> -P try.cmake
file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
foreach(source ${sources})
  file(STRINGS ${source} cases REGEX "^#(if|elif) CASE == ")
  set(number 0)
  foreach(case "// " ${cases})
    string(REGEX REPLACE ".*// " "" sentence "${case}")
    execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -DCASE=${number} -I${INCLUDE} ${source}
      RESULT_VARIABLE failed ERROR_VARIABLE said)
    string(FIND "${said}" "${sentence}" found)
    if(number EQUAL 0 AND failed)
      message(FATAL_ERROR "${source} does not compile:\n${said}")
    elseif(number GREATER 0 AND (NOT failed OR found EQUAL -1))
      message(FATAL_ERROR "case ${number} of ${source} should be refused with '${sentence}':\n${said}")
    endif()
    math(EXPR number "${number} + 1")
  endforeach()
endforeach()
