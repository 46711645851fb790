# One CMake target per layer, all made by the functions below.

find_package(Threads REQUIRED)

# Flags every target of ours is compiled with; never exported to users.
add_library(radir_build_flags INTERFACE)
target_compile_options(radir_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # sqrt need not set errno and comparisons need not trap: without these two
  # no loop with a square root or a select is vectorised. Values are unchanged.
  -fno-math-errno -fno-trapping-math
  # The headers of the kernels open the namespace of each instruction set after
  # the one in use was made inline (RADIR_ISA).
  $<$<CXX_COMPILER_ID:Clang>:-Wno-inline-namespace-reopened-noninline>
  $<$<BOOL:${RADIR_WARNINGS_AS_ERRORS}>:-Werror>)

set(RADIR_SANITIZE "" CACHE STRING "Sanitizers for every target, such as address,undefined")
if(RADIR_SANITIZE)
  target_compile_options(radir_build_flags INTERFACE
    -fsanitize=${RADIR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RADIR_SANITIZE})
endif()

# radir_see_private_headers(TARGET): finds "layer/name.h" in src. By quotes
# alone: <torch/...> is libtorch's, never our folder of that name.
function(radir_see_private_headers target)
  target_compile_options(${target} PRIVATE -iquote "${PROJECT_SOURCE_DIR}/src")
endfunction()

# radir_add_layer(NAME [INTERFACE] [SOURCES ...] [LINK ...] [PRIVATE_LINK ...])
# makes radir_NAME, alias radir::NAME, and puts it into the install set.
function(radir_add_layer name)
  cmake_parse_arguments(ARG "INTERFACE" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(ARG_INTERFACE)
    add_library(radir_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(radir_${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    set_target_properties(radir_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    radir_see_private_headers(radir_${name})
    target_link_libraries(radir_${name} PRIVATE
      $<BUILD_INTERFACE:radir_build_flags> ${ARG_PRIVATE_LINK})
  endif()
  add_library(radir::${name} ALIAS radir_${name})
  set_target_properties(radir_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(radir_${name} ${scope} cxx_std_17)
  target_include_directories(radir_${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(radir_${name} ${scope} ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY RADIR_LAYERS ${name})
endfunction()

# radir_layer_folder(LAYER VAR): the layer's folder in src and include/radir,
# "nn" being in torch/nn.
function(radir_layer_folder layer var)
  set(folder ${layer})
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/src/torch/${layer}")
    set(folder torch/${layer})
  endif()
  set(${var} ${folder} PARENT_SCOPE)
endfunction()

# radir_add_isa_sources(TARGET FILE...) compiles each FILE (named *.isa.cpp)
# once per instruction set, with RADIR_ISA naming the namespace its code goes
# into; the program picks one at run time (core/cpu.h). These files include no
# library headers with inline code of their own beyond <cmath> and the like, so
# that no function compiled for AVX-512 can be linked into generic code.
function(radir_add_isa_sources target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(isas generic avx2 avx512)
  else()
    set(isas generic)
  endif()
  set(flags_generic "")
  set(flags_avx2 -march=x86-64-v3)
  set(flags_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  foreach(isa IN LISTS isas)
    set(object radir_${target}_${isa})
    add_library(${object} OBJECT ${ARGN})
    target_compile_features(${object} PRIVATE cxx_std_17)
    target_compile_definitions(${object} PRIVATE RADIR_ISA=isa_${isa})
    # -Wno-psabi: vector types cross no library boundary.
    target_compile_options(${object} PRIVATE ${flags_${isa}} -Wno-psabi)
    if(RADIR_BUILD_FUZZERS)  # no reader is here, and Clang would need minutes
      target_compile_options(${object} PRIVATE -O0)
    elseif(RADIR_SANITIZE)
      target_compile_options(${object} PRIVATE -O1)
    else()  # hot loops are optimised in every build type
      target_compile_options(${object} PRIVATE -O3)
    endif()
    target_include_directories(${object} PRIVATE "${PROJECT_SOURCE_DIR}/include")
    radir_see_private_headers(${object})
    target_link_libraries(${object} PRIVATE radir_build_flags)
    set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_sources(radir_${target} PRIVATE $<TARGET_OBJECTS:${object}>)
  endforeach()
endfunction()

# radir_optimise_always(TARGET): training is slow with sanitizers; what it spends
# its time in is optimised even in builds that are not, to be made quickly.
function(radir_optimise_always target)
  if(RADIR_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# radir_compile_quickly(TARGET): code that runs once is worth less optimisation
# than it takes to compile. Not for those that reuse a precompiled header, which
# fits code made with the same flags alone.
function(radir_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# radir_compile_together(TARGET): where the headers of other libraries take most
# of the compiler's time, several files are compiled as one.
function(radir_compile_together target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${RADIR_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 6)
endfunction()

# radir_precompile_headers(TARGET HEADER...): headers of other libraries that
# nearly every file of TARGET includes.
function(radir_precompile_headers target)
  if(RADIR_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# radir_add_tests(LAYER FILES... [LINK ...] [WHOLE] [SLOW TEST...])
# One executable per layer. WHOLE registers it as a single CTest entry, for
# those whose start takes long: libtorch's takes half a second each time.
# SLOW are tests (with *) that take long and whose code other tests cover, such
# as those that count draws or train to the end; they get the label "slow",
# which a second build with sanitizers leaves out.
function(radir_add_tests layer)
  cmake_parse_arguments(ARG "WHOLE" "LABEL" "SOURCES;LINK;SLOW" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  set(exe radir_${layer}_tests)
  add_executable(${exe} ${ARG_SOURCES})
  target_link_libraries(${exe} PRIVATE radir_build_flags radir_test_support ${ARG_LINK})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  list(JOIN ARG_SLOW ":" slow)
  if(ARG_WHOLE)
    add_test(NAME ${layer} COMMAND ${exe} --gtest_filter=-${slow})
    # The longest first, so that none runs alone at the end.
    set_tests_properties(${layer} PROPERTIES LABELS ${ARG_LABEL} COST 100)
    if(slow)
      add_test(NAME ${layer}.slow COMMAND ${exe} --gtest_filter=${slow})
      set_tests_properties(${layer}.slow PROPERTIES LABELS slow)
    endif()
  else()
    radir_compile_quickly(${exe})
    gtest_discover_tests(${exe} TEST_PREFIX ${layer}. TEST_FILTER "-${slow}"
                         PROPERTIES LABELS ${ARG_LABEL} DISCOVERY_MODE PRE_TEST)
    if(slow)
      gtest_discover_tests(${exe} TEST_PREFIX ${layer}. TEST_FILTER "${slow}"
                           TEST_LIST ${layer}_SLOW PROPERTIES LABELS slow
                           DISCOVERY_MODE PRE_TEST)
    endif()
  endif()
endfunction()
