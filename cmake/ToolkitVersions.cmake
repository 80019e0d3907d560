# The versions of the CUDA toolkit that warpgauge is tested with, the oldest and the newest. This is
# the one place that states them: scripts read these lines, and a test holds the documents and the
# pinned wheels against them.
set(warpgauge_oldest_cuda 13.0)
set(warpgauge_newest_cuda 13.5)
set_property(GLOBAL PROPERTY WARPGAUGE_NEWEST_CUDA ${warpgauge_newest_cuda})  # for functions

# Refuses a version that is too old, and says so of one that is newer than all that were tested.
function(warpgauge_check_toolkit version folder)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
  if(release VERSION_LESS warpgauge_oldest_cuda)
    message(FATAL_ERROR "The toolkit in ${folder} is CUDA ${release}; warpgauge needs ${warpgauge_oldest_cuda} "
                        "or newer. Name the nvcc of a newer one in CUDACXX, and configure in a new folder.")
  elseif(release VERSION_GREATER warpgauge_newest_cuda)
    message(NOTICE "The toolkit in ${folder} is CUDA ${release}; warpgauge is tested with "
                   "${warpgauge_oldest_cuda} to ${warpgauge_newest_cuda}. Machine code in a format that it does not "
                   "know is not compared: counts of the emulator are predicted then, and say so.")
  endif()
endfunction()
