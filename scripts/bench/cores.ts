import { setTimeout as sleep } from "node:timers/promises";
import { LoadGenerator } from "./load-generator.ts";
import { cpuOfChildren, cpuOfTree } from "./processes.ts";
import { type Server, startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { serverSide } from "./sides.ts";
import { median } from "./statistics.ts";

const COUNTS = [1, 2, 4];
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5);
/** Far below what one process can do, so that waiting for a core costs nothing. */
const PER_SECOND = Number(process.env["CORES_RATE"] ?? 150);
const SECONDS = 10;
const CONNECTIONS = 16;
const APART_MAX = 1.15;
const ANSWER = { shape: { tokens: 20, perWrite: 20 }, isStreamed: false };

/** One server with this many processes, and what each round measured. */
interface Side {
  readonly processes: number;
  readonly server: Server;
  /** Processor time of a request in milliseconds, of all processes and threads. */
  readonly cpuMs: number[];
  /** The processor time of the busiest serving process, compared with an even share. */
  readonly busiest: number[];
}

/** Measures what a request costs with several processes at the same rate. The servers take turns. */
export async function measureCores(): Promise<void> {
  const upstream = await startUpstream();
  const load = new LoadGenerator();
  const sides: Side[] = [];
  try {
    for (const processes of COUNTS) {
      const server = await startServer({ root: THIS_TREE, upstream, env: { PROCESSES: String(processes) } });
      sides.push({ processes, server, cpuMs: [], busiest: [] });
    }
    for (const side of sides) await warmUp(side, load);
    for (let round = 0; round < ROUNDS; round++) for (const side of sides) await measure(side, load);
    print(sides);
  } finally {
    for (const { server } of sides) server.stop();
    load.stop();
    upstream.stop();
  }
}

async function warmUp({ server, processes }: Side, load: LoadGenerator): Promise<void> {
  const job = serverSide(server, { stores: true }).job({ ...ANSWER, count: 1000 * processes, atOnce: CONNECTIONS });
  await load.performWell(job);
}

async function measure({ server, processes, cpuMs, busiest }: Side, load: LoadGenerator): Promise<void> {
  const count = PER_SECOND * SECONDS;
  const job = serverSide(server, { stores: true }).job({ ...ANSWER, count, atOnce: CONNECTIONS });
  await sleep(1000); // What the last load left behind is done.
  const before = { all: cpuOfTree(server.pid), each: cpuOfChildren(server.pid) };
  await load.performWell({ ...job, perSecond: PER_SECOND });
  cpuMs.push((cpuOfTree(server.pid) - before.all) / count);
  const used = [...cpuOfChildren(server.pid)].map(([pid, ms]) => ms - (before.each.get(pid) ?? 0));
  const sum = used.reduce((total, ms) => total + ms, 0);
  busiest.push(used.length === 0 ? 1 : (Math.max(...used) * processes) / sum);
}

function print(sides: readonly Side[]): void {
  console.log(
    `\n${PER_SECOND} JSON requests a second on ${CONNECTIONS} connections, stored, ${ROUNDS} rounds in turns`,
  );
  const figures = sides.map(({ processes, cpuMs, busiest }) => {
    const cpu = median(cpuMs);
    const range = `${Math.min(...cpuMs).toFixed(2)} to ${Math.max(...cpuMs).toFixed(2)}`;
    const share = processes === 1 ? "" : `; the busiest had ${median(busiest).toFixed(2)} times an even share`;
    console.log(
      `  ${processes} ${processes === 1 ? "process" : "processes"}: ${cpu.toFixed(2)} ms CPU a request (${range})${share}`,
    );
    return cpu;
  });
  const apart = Math.max(...figures) / Math.min(...figures);
  console.log(
    `  the dearest costs ${apart.toFixed(2)} times the cheapest; within ${APART_MAX}: ${apart <= APART_MAX ? "met" : "missed"}`,
  );
}
