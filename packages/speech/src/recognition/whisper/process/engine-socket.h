// Lets whisper.cpp's server listen on a Unix socket: `--host /path/of/the/socket`. Its command line offers TCP only, which
// every user of the machine can connect to. This header is compiled into the server before its own first line.
#pragma once

#include "httplib.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/socket.h>

namespace antiphon {

// Says that this build knows Unix sockets, to whoever runs it with this variable.
struct Announcement {
    Announcement() {
        if (std::getenv("ANTIPHON_ENGINE_ANNOUNCE") != nullptr) std::puts("listens on unix sockets");
    }
};
static const Announcement announcement;

} // namespace antiphon

// server.cpp calls `svr->bind_to_port(hostname, port)` once. A host that begins with a slash is the path of a socket.
#define bind_to_port(host, port) \
    set_address_family((host).rfind('/', 0) == 0 ? AF_UNIX : AF_UNSPEC).bind_to_port(host, port)
