# WARPGAUGE_SANITIZE: address and undefined sanitizers for host code, in .cpp and in .cu.
if(WARPGAUGE_SANITIZE)
  foreach(flag -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all
               -fno-omit-frame-pointer)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${flag}>"
                        "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>")
  endforeach()
  add_link_options("$<HOST_LINK:-fsanitize=address,-fsanitize=undefined>")
endif()
