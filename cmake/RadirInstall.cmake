# Installs the layers and the package that find_package(radir) reads.
#
# Every layer has an export file of its own, so that a component brings only
# the layers and the packages it needs: `COMPONENTS math` never looks for
# libtorch.

include(CMakePackageConfigHelpers)

# radir_layer_needs(LAYER LAYERS_VAR PACKAGES_VAR)
# gives the layers and the packages that a user of LAYER has to have, read from
# what the target links.
function(radir_layer_needs layer layers_var packages_var)
  set(layers "")
  set(packages "")
  get_target_property(links radir_${layer} INTERFACE_LINK_LIBRARIES)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^radir::(.+)$")
      list(APPEND layers ${CMAKE_MATCH_1})
    elseif(link STREQUAL "torch")
      list(APPEND packages Torch)
    elseif(link STREQUAL "onnx_proto")
      list(APPEND packages Protobuf ONNX)
    elseif(link MATCHES "^([A-Za-z0-9_]+)::")
      list(APPEND packages ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${layers_var} ${layers} PARENT_SCOPE)
  set(${packages_var} ${packages} PARENT_SCOPE)
endfunction()

set(radir_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/radir")
set(RADIR_LAYER_TABLE "")
get_property(radir_layers GLOBAL PROPERTY RADIR_LAYERS)
foreach(layer IN LISTS radir_layers)
  install(TARGETS radir_${layer} EXPORT radir-${layer}
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
                  NAMELINK_COMPONENT development)
  install(EXPORT radir-${layer} NAMESPACE radir::
          DESTINATION "${radir_config_dir}" COMPONENT development)
  radir_layer_folder(${layer} folder)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/radir/${folder}/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/radir/${folder}"
          COMPONENT development
          FILES_MATCHING PATTERN "*.h")
  install(FILES "${PROJECT_SOURCE_DIR}/include/radir/${layer}.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/radir"
          COMPONENT development OPTIONAL)

  radir_layer_needs(${layer} uses packages)
  string(APPEND RADIR_LAYER_TABLE
    "set(_radir_${layer}_uses ${uses})\n"
    "set(_radir_${layer}_packages ${packages})\n")
endforeach()
list(JOIN radir_layers " " RADIR_LAYER_LIST)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/radirConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/radirConfig.cmake"
  INSTALL_DESTINATION "${radir_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/radirConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/radirConfig.cmake"
              "${PROJECT_BINARY_DIR}/radirConfigVersion.cmake"
        DESTINATION "${radir_config_dir}" COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
if(TARGET radir_cli)
  install(TARGETS radir_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
          COMPONENT program)
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(RadirPackages)
endif()
