# libtorch, for the layers that have tensors.

# At the top level, so that the imported targets are visible in every folder.
find_package(Torch REQUIRED)

# radir_reuse_torch_headers(TARGET) gives TARGET the precompiled torch/torch.h
# of radir_distributions: parsing it takes some twenty seconds a file. A
# precompiled header fits only code made with the same flags, hence -fPIC for
# executables too.
function(radir_reuse_torch_headers target)
  if(RADIR_PRECOMPILED_HEADERS)
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM radir_distributions)
  endif()
endfunction()
