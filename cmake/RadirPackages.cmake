# The Debian packages: `cpack -G DEB` in a build folder.
#
#   radir            the program
#   radir-torch      what the program loads for TorchScript and measurements
#   libradir0.1      libradir.so, without libtorch
#   libradir-dev     headers, static libraries, CMake files
#   python3-radir    the Python package on libradir0.1

set(radir_components program development)
if(RADIR_BUILD_C_API)
  list(APPEND radir_components library python)
  # Not for `cmake --install`, whose users have pip.
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/radir"
          DESTINATION lib/python3/dist-packages
          COMPONENT python EXCLUDE_FROM_ALL
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
          PATTERN "__pycache__" EXCLUDE)
endif()
if(TARGET radir_torchscript)
  list(APPEND radir_components torch)
endif()

set(radir_abi "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${radir_components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME radir)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "Radir")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Radir project <radir@localhost>")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For libradir.so, which another package of this set holds.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# radir_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDS])
macro(radir_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${ARGN}")
endmacro()
radir_package(program radir science
  "Bayesian neural networks: the command-line program")
# Loaded at the first download.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libcurl4, ca-certificates")
radir_package(torch radir-torch science
  "Bayesian neural networks: modules of the program that need libtorch"
  "radir (= ${PROJECT_VERSION})")
radir_package(library libradir${radir_abi} libs
  "Bayesian neural networks: shared library with a C interface")
radir_package(development libradir-dev libdevel
  "Bayesian neural networks: headers and libraries for C and C++"
  "libradir${radir_abi} (= ${PROJECT_VERSION})")
radir_package(python python3-radir python
  "Bayesian neural networks: scikit-learn estimators and PyTorch layers"
  "libradir${radir_abi} (= ${PROJECT_VERSION}), python3 (>= 3.9), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS
  "python3-sklearn, python3-pandas, python3-torch")
# It has no libraries of its own to ask about.
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
include(CPack)
