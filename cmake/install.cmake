# `cmake --install`, and the package that another project finds with find_package(gradus).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gradus)
install(TARGETS gradus EXPORT gradus-targets)
install(DIRECTORY include/gradus TYPE INCLUDE)
install(EXPORT gradus-targets NAMESPACE gradus:: DESTINATION ${package_dir})

configure_package_config_file(cmake/gradus-config.cmake.in ${PROJECT_BINARY_DIR}/gradus-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gradus-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gradus-config.cmake
  ${PROJECT_BINARY_DIR}/gradus-config-version.cmake DESTINATION ${package_dir})
