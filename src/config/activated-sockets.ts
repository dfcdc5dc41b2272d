/** A listening socket that was open when this program started. */
export interface ActivatedSocket {
  readonly fd: number;
  /** Whether this process owns the socket. Otherwise the primary owns it and distributes connections. */
  readonly isOwn: boolean;
}

/** The sockets that a service manager opened for this program, by the interface that they serve. */
export interface ActivatedSockets {
  readonly responsesApi: ActivatedSocket | null;
  /** Interface B can have one socket per address family. */
  readonly speech: readonly ActivatedSocket[];
  readonly sttCloud: ActivatedSocket | null;
  /** All sockets, with the numbers that this process or its primary uses. */
  readonly fds: readonly number[];
}

/** The ids of this process and its parent. */
export interface ProcessIds {
  readonly pid: number;
  readonly ppid: number;
}

const NAMES = ["responses-api", "speech", "stt-cloud"] as const;
type SocketName = (typeof NAMES)[number];

/** The first socket's number, by systemd's protocol. */
const FIRST_FD = 3;
const NONE: ActivatedSockets = { responsesApi: null, speech: [], sttCloud: null, fds: [] };

/**
 * Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, like sd_listen_fds. They are addressed to this process or,
 * with several processes, to its primary. `problems` gets a sentence for each socket without a known name.
 */
export function readActivatedSockets(
  environment: Readonly<Record<string, string | undefined>>,
  ids: ProcessIds,
  problems: string[],
): ActivatedSockets {
  const { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES = "" } = environment;
  const pid = Number(LISTEN_PID);
  const count = Number(LISTEN_FDS);
  if (!(count > 0) || (pid !== ids.pid && pid !== ids.ppid)) return NONE;
  const names = LISTEN_FDNAMES.split(":");
  const isPrimarys = pid !== ids.pid;
  const fds = Array.from({ length: count }, (_, index) => FIRST_FD + index);
  const sockets = fds.map((fd, index) => ({ fd, name: socketName(names[index] ?? "", count, problems) }));
  const having = (name: SocketName): readonly number[] =>
    sockets.filter((one) => one.name === name).map(({ fd }) => fd);
  const [responsesApi] = having("responses-api");
  const [sttCloud] = having("stt-cloud");
  return {
    responsesApi: responsesApi === undefined ? null : { fd: responsesApi, isOwn: !isPrimarys },
    speech: having("speech").map((fd) => ({ fd: isPrimarys ? inheritedFd(fd) : fd, isOwn: true })),
    sttCloud: sttCloud === undefined ? null : { fd: sttCloud, isOwn: !isPrimarys },
    fds,
  };
}

/** A process gets the sockets of its primary in the same order, after its channel to the primary. */
function inheritedFd(fd: number): number {
  return fd + 1;
}

/** A single socket needs no name: it serves the Responses API. */
function socketName(text: string, count: number, problems: string[]): SocketName | null {
  const match = NAMES.find((name) => name === text);
  if (match !== undefined) return match;
  if (count === 1) return "responses-api";
  problems.push(
    `LISTEN_FDNAMES has '${text}', which is none of ${NAMES.join(", ")}: set FileDescriptorName of each socket.`,
  );
  return null;
}
