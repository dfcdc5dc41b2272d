import { type EscapeAttempt, py } from "./escape-attempt.ts";

export const NETWORK_ATTEMPTS: readonly EscapeAttempt[] = [
  {
    title: "connects to a server on loopback",
    code: ({ tcpPort }) => `import socket
attempt("tcp", lambda: connect(socket.AF_INET, ("127.0.0.1", ${tcpPort})))`,
    isControlled: true,
  },
  {
    title: "connects to a server on IPv6's loopback",
    code: ({ tcp6Port }) => `import socket
attempt("tcp6", lambda: connect(socket.AF_INET6, ("::1", ${tcp6Port})))
attempt("mapped", lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", ${tcp6Port})))`,
  },
  {
    title: "connects to this machine's address and to others",
    code: ({ address, tcpPort }) => `import socket
for address in (${py(address)}, "10.0.0.1", "192.0.2.1", "169.254.169.254"):
    attempt(address, lambda: connect(socket.AF_INET, (address, ${tcpPort})))`,
  },
  {
    title: "sends UDP to this machine",
    code: ({ address, udpPort }) => `import socket
def send(to):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"escaped", (to, ${udpPort}))
    return False  # It may go to the sandbox's own loopback. The receiver tells.
attempt("loopback", lambda: send("127.0.0.1"))
attempt("address", lambda: send(${py(address)}))
attempt("broadcast", lambda: send("255.255.255.255"))`,
  },
  {
    title: "asks for the address of a name",
    code: () => `import socket
attempt("name", lambda: socket.getaddrinfo("example.com", 80))`,
    inPyodide: {
      why: "It asks nobody, and makes addresses up.",
      harmless: [
        /^name \[\(<AddressFamily.AF_INET: 2>, <SocketKind.SOCK_STREAM: 1>, 6, '', \('172\.29\.\d+\.\d+', 80\)\)\]$/,
      ],
    },
  },
  {
    title: "fetches a page",
    code: ({ tcpPort }) => `import urllib.request
attempt("page", lambda: urllib.request.urlopen("http://127.0.0.1:${tcpPort}/", timeout=2).read(10))
attempt("file", lambda: urllib.request.urlopen("file:///etc/shadow").read(10))`,
  },
  {
    title: "connects to a socket file of this machine",
    code: ({ socketPath }) => `import socket
attempt("unix", lambda: connect(socket.AF_UNIX, ${py(socketPath)}))
for path in ("/run/docker.sock", "/var/run/dbus/system_bus_socket", "/run/systemd/private"):
    attempt(path, lambda: connect(socket.AF_UNIX, path))`,
    isControlled: true,
  },
  {
    title: "connects to an abstract socket of this machine",
    code: ({ abstractSocket }) => `import socket
attempt("abstract", lambda: connect(socket.AF_UNIX, "\\0" + ${py(abstractSocket)}))`,
    isControlled: true,
  },
  {
    title: "opens raw sockets and sockets of other families",
    code: () => `import socket
for family, kind in ((2, 3), (10, 3), (17, 3), (38, 5), (31, 3), (44, 3)):
    attempt("family %d" % family, lambda: socket.socket(family, kind).close())`,
  },
  {
    title: "connects to the host of a virtual machine",
    code: () => `attempt("vsock", lambda: syscall(41, 198, 40, 1, 0))`,
  },
  {
    title: "sees or makes network interfaces",
    code: () => `import socket
attempt("names", lambda: [name for _, name in socket.if_nameindex() if name != "lo"] or False)
attempt("devices", lambda: [line for line in text("/proc/net/dev").splitlines()[2:] if not line.strip().startswith("lo:")] or False)
attempt("tun", lambda: os.open("/dev/net/tun", os.O_RDWR))`,
  },
];
