# Installs Gradus, then configures, builds and runs the outside project against what was installed.
# cmake -DGRADUS_BUILD=<build folder> -DWORK=<scratch folder> -P try.cmake
set(CMAKE_EXECUTE_PROCESS_COMMAND_ECHO STDOUT)
file(REMOVE_RECURSE ${WORK})
foreach(command
    "--install ${GRADUS_BUILD} --prefix ${WORK}/prefix"
    "-G Ninja -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix"
    "--build ${WORK}/build")
  separate_arguments(command)
  execute_process(COMMAND ${CMAKE_COMMAND} ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${WORK}/build/outside ${WORK}/step OUTPUT_VARIABLE saved
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/loader ${WORK}/step OUTPUT_VARIABLE loaded
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*\\]\n" "" saved "${saved}")
if(NOT saved STREQUAL loaded)
  message(FATAL_ERROR "The loaded step gives ${loaded}, the one that was saved ${saved}")
endif()
