# Compiler warnings of everything below this point. Not -Wpedantic for .cu: nvcc's own output
# (#line directives with flags) does not pass it. Designated initialisers leave out fields on purpose.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wno-missing-field-initializers>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
if(WARPGAUGE_WERROR)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)  # -Werror; for nvcc -Werror all-warnings
endif()
