import type { SessionEnd } from "@antiphon/domain/containers.ts";

/** What code must not reach. */
export interface HostFacts {
  /** A file of this machine that any user can read, with `secret` in it. */
  readonly canaryPath: string;
  /** A folder of this machine that any user can write to. */
  readonly openFolder: string;
  readonly processId: number;
  readonly tcpPort: number;
  readonly tcp6Port: number;
  readonly udpPort: number;
  readonly socketPath: string;
  readonly abstractSocket: string;
  /** An address of this machine beside loopback; loopback if there is none. */
  readonly address: string;
  /** Stands in the environment of this process, in the canary file, and in a file of another session. */
  readonly secret: string;
}

export interface EscapeAttempt {
  readonly title: string;
  /** Python after `PRELUDE`. Prints `ESCAPED` if it gets through, and `REFUSED` if it does not. */
  readonly code: (host: HostFacts) => string;
  /** How the session may end; null if it may live. Left out if it has to live. */
  readonly ends?: readonly (SessionEnd | null)[];
  readonly timeoutMs?: number;
  /** Whether it gets through where there is no sandbox, without harm, so that this can be tried. */
  readonly isControlled?: boolean;
  /** Engines that do not stop this, though it does little harm. */
  readonly isOpenIn?: readonly string[];
  /** Whether a session may say nothing, because what it says is of no matter. */
  readonly isSilent?: boolean;
  readonly inPyodide?: PyodideExpectation;
}

/** Where an attempt means something else in Pyodide, whose files, devices and sockets are its own, in its memory. */
export interface PyodideExpectation {
  /** A sentence. */
  readonly why: string;
  /** Each is what stands after `ESCAPED` once, and nothing else does. The test looks for harm from outside. */
  readonly harmless?: readonly RegExp[];
  readonly ends?: EscapeAttempt["ends"];
  readonly timeoutMs?: number;
  /** The exception that keeps the attempt from its beginning. */
  readonly traceback?: RegExp;
}

export const PRELUDE = `
import os, sys
def attempt(what, action):
    try:
        result = action()
    except (NameError, SyntaxError) as fault:
        print("BROKEN", what, repr(fault))
    except BaseException as refusal:
        print("REFUSED", what, type(refusal).__name__, refusal)
    else:
        print("ESCAPED" if result is not False else "REFUSED", what, repr(result)[:200])
def text(path):
    with open(path, errors="replace") as file:
        return file.read(100000)
def write(path):
    with open(path, "w") as file:
        file.write("written")
def syscall(x64, arm64, *arguments):
    import ctypes, platform
    number = x64 if platform.machine() == "x86_64" else arm64
    result = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def connect(family, address, kind=None):
    import socket
    with socket.socket(family, kind or socket.SOCK_STREAM) as opened:
        opened.settimeout(2)
        opened.connect(address)
        opened.send(b"escaped")
    return True
def protocol():
    import stat
    found = []
    for number in range(3, 256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            found.append(number)
    return found
flood_seconds = 8
def forge(head, data=b""):
    import json, select, struct
    text = json.dumps(head).encode()
    frame = struct.pack(">II", len(text), len(data)) + text + data
    for number in protocol():
        try:
            if select.select([], [number], [], 0)[1]:
                os.write(number, frame)
        except OSError:
            pass
`;

/**
 * After `PRELUDE`, in Pyodide. There every descriptor is tried, also stdin and stdout, because none may lead to the
 * server. A flood that does not come through is shown by a short one.
 */
export const PYODIDE_PRELUDE = `
flood_seconds = 1
def protocol():
    return range(256)
def forge(head, data=b""):
    import json, struct
    text = json.dumps(head).encode()
    for number in protocol():
        try:
            os.write(number, struct.pack(">II", len(text), len(data)) + text + data)
        except OSError:
            pass
`;

/** For attempts on the session itself: it may end, and nothing else may happen. */
export const ANY_END = [
  null,
  "crashed",
  "timed_out",
  "out_of_memory",
  "too_many_processes",
  "too_much_output",
] as const;

/** A text as Python writes it. */
export function py(text: string): string {
  return JSON.stringify(text);
}
