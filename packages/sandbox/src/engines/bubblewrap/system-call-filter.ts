/**
 * A seccomp program for Linux, in the format of `bwrap --seccomp`. It blocks what namespaces do not: memory outside of
 * limits, sockets of families that no network namespace covers (such as those of virtual machines), new namespaces, and
 * parts of the kernel that code does not need but that often have bugs.
 */

/** Numbers on x86-64 and on 64-bit ARM; null if there is no such call. */
type Call = readonly [name: string, x64: number | null, arm64: number | null];

const REFUSED: readonly Call[] = [
  // Memory outside of any process.
  ...calls([
    ["memfd_create", 319, 279],
    ["memfd_secret", 447, 447],
    ["shmget", 29, 194],
    ["semget", 64, 190],
    ["msgget", 68, 186],
    ["mq_open", 240, 180],
    ["io_uring_setup", 425, 425],
    ["io_uring_enter", 426, 426],
    ["io_uring_register", 427, 427],
  ]),
  // Other processes.
  ...calls([
    ["ptrace", 101, 117],
    ["process_vm_readv", 310, 270],
    ["process_vm_writev", 311, 271],
    ["kcmp", 312, 272],
    ["pidfd_getfd", 438, 438],
  ]),
  // Namespaces and mounts.
  ...calls([
    ["unshare", 272, 97],
    ["setns", 308, 268],
    ["mount", 165, 40],
    ["umount2", 166, 39],
    ["pivot_root", 155, 41],
    ["chroot", 161, 51],
    ["open_tree", 428, 428],
    ["move_mount", 429, 429],
    ["fsopen", 430, 430],
    ["fsconfig", 431, 431],
    ["fsmount", 432, 432],
    ["fspick", 433, 433],
    ["mount_setattr", 442, 442],
    ["name_to_handle_at", 303, 264],
    ["open_by_handle_at", 304, 265],
  ]),
  // Parts of the kernel.
  ...calls([
    ["add_key", 248, 217],
    ["request_key", 249, 218],
    ["keyctl", 250, 219],
    ["bpf", 321, 280],
    ["perf_event_open", 298, 241],
    ["userfaultfd", 323, 282],
    ["fanotify_init", 300, 262],
    ["vmsplice", 278, 75],
    ["personality", 135, 92],
    ["modify_ldt", 154, null],
    ["iopl", 172, null],
    ["ioperm", 173, null],
    ["uselib", 134, null],
    ["init_module", 175, 105],
    ["finit_module", 313, 273],
    ["delete_module", 176, 106],
    ["kexec_load", 246, 104],
    ["kexec_file_load", 320, 294],
    ["reboot", 169, 142],
    ["swapon", 167, 224],
    ["swapoff", 168, 225],
    ["acct", 163, 89],
    ["quotactl", 179, 60],
    ["quotactl_fd", 443, 443],
    ["syslog", 103, 116],
    ["lookup_dcookie", 212, 18],
    ["settimeofday", 164, 170],
    ["clock_settime", 227, 112],
    ["clock_adjtime", 305, 266],
    ["adjtimex", 159, 171],
  ]),
];

/** Later calls are newer than this list. */
const LAST_KNOWN = 466;
const CLONE = { x64: 56, arm64: 220 };
const CLONE3 = 435;
const SOCKET = { x64: 41, arm64: 198 };
const IOCTL = { x64: 16, arm64: 29 };
const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Flags of `clone` for new namespaces. */
const NEW_NAMESPACES = 0x7e020000;
/** AF_UNIX, AF_INET and AF_INET6: all within the sandbox, whose network has no way out. */
const SOCKET_FAMILIES = [1, 2, 10];
/** TIOCSTI and TIOCLINUX, which type into a terminal. */
const TYPING = [0x5412, 0x541c];

const LOAD = 0x20;
const AND = 0x54;
const IF_EQUAL = 0x15;
const IF_GREATER = 0x25;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
/** Offsets of the kernel's data for the program. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;
const INSTRUCTION_BYTES = 8;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Null on an architecture without a filter. */
export function systemCallFilter(architecture: string): Buffer | null {
  if (architecture !== "x64" && architecture !== "arm64") return null;
  const numbers = REFUSED.map(([, x64, arm64]) => (architecture === "x64" ? x64 : arm64));
  return assemble([
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, ARCHITECTURES[architecture]],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [IF_GREATER, 0, 1, LAST_KNOWN],
    [RETURN, 0, 0, REFUSE + ENOSYS],
    [IF_EQUAL, 0, 1, CLONE3], // Its flags are in memory that no filter can read. C libraries fall back to `clone`.
    [RETURN, 0, 0, REFUSE + ENOSYS],
    ...numbers.flatMap((number) => (number === null ? [] : refuse(number))),
    ...argument(CLONE[architecture], FIRST_ARGUMENT, [
      [AND, 0, 0, NEW_NAMESPACES],
      [IF_EQUAL, 1, 0, 0],
      [RETURN, 0, 0, REFUSE + EPERM],
    ]),
    ...argument(SOCKET[architecture], FIRST_ARGUMENT, [
      ...SOCKET_FAMILIES.map((family, index): Instruction => [IF_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
      [RETURN, 0, 0, REFUSE + EPERM],
    ]),
    ...argument(IOCTL[architecture], SECOND_ARGUMENT, TYPING.flatMap(refuse)),
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** Refuses the call if the loaded word equals this one. */
function refuse(word: number): Instruction[] {
  return [
    [IF_EQUAL, 0, 1, word],
    [RETURN, 0, 0, REFUSE + EPERM],
  ];
}

/** Checks an argument of one call, then allows it unless the check has ended. */
function argument(call: number, offset: number, check: readonly Instruction[]): Instruction[] {
  return [[IF_EQUAL, 0, check.length + 2, call], [LOAD, 0, 0, offset], ...check, [RETURN, 0, 0, ALLOW]];
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    const start = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, start);
    bytes.writeUInt8(ifTrue, start + 2);
    bytes.writeUInt8(ifFalse, start + 3);
    bytes.writeUInt32LE(value, start + 4);
  }
  return bytes;
}

function calls(list: readonly Call[]): readonly Call[] {
  return list;
}
