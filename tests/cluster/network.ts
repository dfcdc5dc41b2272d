import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import type { Readable, Writable } from "node:stream";

/**
 * A network of several machines on this one. Each machine is a namespace with a network and a name of its own, and a
 * switch in another one joins them and this process. All of it vanishes with this process. Linux, and only for root.
 */
export interface Network {
  /** The address of this process in a segment. */
  readonly address: (segment: Segment) => string;
  readonly nodes: readonly NetworkNode[];
  close(): void;
}

/** Each node has a link of its own in each of these: to clients and models, the database, the broker, other nodes. */
export const SEGMENTS = ["web", "database", "broker", "nodes"] as const;
export type Segment = (typeof SEGMENTS)[number];

export interface NetworkNode {
  /** Where it can be reached in a segment. */
  readonly address: (segment: Segment) => string;
  /** Runs a program, named after these arguments, on this node. It dies with this process. */
  readonly inside: readonly string[];
  /** From now on everything sent over this link is lost without a word, as with a pulled cable. */
  cut(segment: Segment): void;
  mend(segment: Segment): void;
}

type Holder = ChildProcessByStdio<Writable, Readable, null>;

/** All segments are parts of one /24 network, of 32 addresses each. The first one is ours. */
const SEGMENT_START: Readonly<Record<Segment, number>> = { web: 0, database: 32, broker: 64, nodes: 96 };
const SEGMENT_BITS = 27;
/** A limit of Linux. */
const LINK_NAME_LENGTH_MAX = 15;
const ATTEMPTS = 20;

export async function startNetwork(nodeCount: number): Promise<Network> {
  const names = Array.from({ length: nodeCount }, (_, index) => `machine-${index + 1}`);
  const [hub, ...holders] = await Promise.all([holdMachine("hub"), ...names.map(holdMachine)]);
  const prefix = freePrefix();
  const addressOf = (segment: Segment, place: number): string => `${prefix}.${SEGMENT_START[segment] + 1 + place}`;
  ip(
    hub,
    SEGMENTS.flatMap((segment) => [`link add ${segment} type bridge`, `link set ${segment} up`]),
  );
  for (const segment of SEGMENTS) {
    const name = `${prefix}.${segment}`.slice(0, LINK_NAME_LENGTH_MAX);
    plug(hub, segment, { place: 0, holder: null, name, address: addressOf(segment, 0) });
  }
  const nodes = holders.map((holder, index) => connectNode(hub, holder, index + 1, addressOf));
  return {
    address: (segment) => addressOf(segment, 0),
    nodes,
    close: () => {
      for (const holder of [...holders, hub]) holder.kill("SIGKILL");
    },
  };
}

/** Keeps the namespaces of a new machine alive until this process ends, since its input ends then. */
async function holdMachine(name: string): Promise<Holder> {
  const holder = spawn("unshare", ["--net", "--uts", "sh", "-c", HOLD, name], { stdio: ["pipe", "pipe", "inherit"] });
  await Promise.race([once(holder.stdout, "data"), failing(once(holder, "exit"))]);
  return holder;
}

/** Takes the name as its own, tells that it is there, and waits for the end of its input. */
const HOLD = 'echo "$0" > /proc/sys/kernel/hostname && echo ready && exec cat';

async function failing(ended: Promise<unknown>): Promise<never> {
  await ended;
  throw new Error("no network namespace was made");
}

/** The first three numbers of a network that nobody on this machine uses. */
function freePrefix(): string {
  const taken = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const prefix = `10.${200 + Math.floor(Math.random() * 50)}.${Math.floor(Math.random() * 256)}`;
    if (!taken.some((address) => address.startsWith(`${prefix}.`))) return prefix;
  }
  throw new Error("this machine uses every network that was tried");
}

interface End {
  /** The number of the machine in the segment. */
  readonly place: number;
  /** The namespace of the other side; null: that of this process. */
  readonly holder: Holder | null;
  readonly name: string;
  readonly address: string;
}

/** Lays a cable between a segment of the switch and a machine. */
function plug(hub: Holder, segment: Segment, { place, holder, name, address }: End): void {
  const end = `${segment}-${place}`;
  ip(hub, [
    `link add ${end} type veth peer name ${name} netns ${holder?.pid ?? process.pid}`,
    `link set ${end} master ${segment} up`,
  ]);
  ip(holder, [`addr add ${address}/${SEGMENT_BITS} dev ${name}`, `link set ${name} up`]);
}

type AddressOf = (segment: Segment, place: number) => string;

function connectNode(hub: Holder, holder: Holder, number: number, addressOf: AddressOf): NetworkNode {
  ip(holder, ["link set lo up"]);
  for (const segment of SEGMENTS)
    plug(hub, segment, { place: number, holder, name: segment, address: addressOf(segment, number) });
  return {
    address: (segment) => addressOf(segment, number),
    inside: ["nsenter", ...inside(holder)],
    cut: (segment) => ip(hub, [`link set ${segment}-${number} down`]),
    mend: (segment) => ip(hub, [`link set ${segment}-${number} up`]),
  };
}

function inside({ pid }: Holder): readonly string[] {
  return [`--target=${pid}`, "--net", "--uts", "setpriv", "--pdeathsig", "KILL"];
}

/** Carries out commands of `ip` in a namespace; null: in that of this process. */
function ip(holder: Holder | null, commands: readonly string[]): void {
  const [program, ...rest] = holder === null ? ["ip"] : ["nsenter", ...inside(holder), "ip"];
  execFileSync(program ?? "ip", [...rest, "-batch", "-"], {
    input: `${commands.join("\n")}\n`,
    stdio: ["pipe", "ignore", "pipe"],
  });
}
