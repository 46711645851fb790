# Runs PROGRAM and, where the file EXPECTED exists, compares what it prints.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE output
                COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS "${EXPECTED}")
  file(READ "${EXPECTED}" expected)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "it prints\n${output}\nbut the page says\n${expected}")
  endif()
endif()
