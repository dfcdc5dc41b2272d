import { expect } from "vitest";
import { type ChildServer, type ChildServerOptions, startChildServer } from "../kit/child-server.ts";
import { childrenOf } from "../kit/processes.ts";

/** Each process takes a second of processor time to start. */
export const TEST_TIMEOUT_MS = 120_000;

/** A server of several processes. Each call has a connection of its own, so that the processes take turns. */
export interface SeveralProcesses extends ChildServer {
  /** The pids of the processes that serve, or start or end just now. */
  pids(): readonly number[];
  /** The pid of the process that makes a response, as the log says. */
  makerOf(responseId: string): Promise<number>;
  /** The numbers of the processes that answered requests so far. */
  answered(): readonly unknown[];
}

export async function startProcesses(count: number, options: ChildServerOptions = {}): Promise<SeveralProcesses> {
  const server = await startChildServer({
    ...options,
    env: { PROCESSES: String(count), LOG_LEVEL: "debug", NODE_ENV: "production", ...options.env },
  });
  const alone = { connection: "close" };
  const linesOf = (msg: string) => server.lines().filter((line) => line["msg"] === msg);
  return {
    ...server,
    fetch: (path, init = {}) => server.fetch(path, { ...init, headers: { ...headersOf(init), ...alone } }),
    post: (path, body, headers = {}) => server.post(path, body, { ...headers, ...alone }),
    pids: () => childrenOf(server.pid),
    makerOf: async (responseId) => {
      const find = () => linesOf("run began").find((line) => line["responseId"] === responseId)?.["pid"];
      await expect.poll(find, { timeout: 30_000 }).toBeDefined();
      return Number(find());
    },
    answered: () => linesOf("request").map((line) => line["process"]),
  };
}

function headersOf({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

/** The series of a scrape: name with labels, as printed, and value. */
export async function scrape(server: Pick<ChildServer, "fetch">): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await server.fetch("/metrics")).text()).split("\n").filter((line) => !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}
