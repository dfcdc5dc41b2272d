# Read by CMake while it configures whisper.cpp. Its server is compiled with engine-socket.h before its own first line.
set(ENGINE_SOCKET_HEADER "${CMAKE_CURRENT_LIST_DIR}/engine-socket.h")
cmake_language(DEFER CALL target_compile_options whisper-server PRIVATE "SHELL:-include \"${ENGINE_SOCKET_HEADER}\"")
cmake_language(DEFER CALL target_include_directories whisper-server PRIVATE "${CMAKE_SOURCE_DIR}/examples/server")
