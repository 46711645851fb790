# Fails unless every symbol that LIBRARY defines for others begins with radir_.
execute_process(COMMAND "${NM}" -D --defined-only "${LIBRARY}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${symbols}")
list(LENGTH names count)
if(count LESS 30)
  message(FATAL_ERROR "only ${count} symbols in ${LIBRARY}")
endif()
list(FILTER names EXCLUDE REGEX "^radir_")
if(names)
  message(FATAL_ERROR "${LIBRARY} also shows ${names}")
endif()
