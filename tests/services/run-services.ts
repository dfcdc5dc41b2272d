/**
 * The servers that all tests of one run share. Vitest calls `setup` once, in the process that starts the workers. Each
 * server starts when the first test asks for it, and ends with the run.
 */

import { createServer, type Server, type ServerResponse } from "node:http";
import type { TestProject } from "vitest/node";
import { postgresVersion, startPostgres, whyNoPostgres } from "./postgres-server.ts";
import { redisVersion, startRedis, whyNoRedis } from "./redis-server.ts";

interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

const STARTS = {
  "/postgres": async (): Promise<Service> => {
    const server = await startPostgres();
    return { url: server.url(), stop: () => server.stop() };
  },
  "/redis": async (): Promise<Service> => {
    const server = await startRedis();
    return { url: server.url, stop: () => server.stop() };
  },
};

type Path = keyof typeof STARTS;

declare module "vitest" {
  interface ProvidedContext {
    /** Where workers ask for servers. */
    servicesUrl: string;
  }
}

/** Where the workers of another project of this run ask. */
const SERVICES_URL = "ANTIPHON_TEST_SERVICES_URL";

/** Resolves to what ends the servers. Several projects of a run share them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = process.env[SERVICES_URL];
  if (shared !== undefined) {
    project.provide("servicesUrl", shared);
    return async () => {};
  }
  const started = new Map<Path, Promise<Service>>();
  const server = await listen((path, response) => {
    const service = started.get(path) ?? STARTS[path]();
    started.set(path, service);
    service.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const url = `http://127.0.0.1:${address.port}`;
  project.provide("servicesUrl", url);
  process.env[SERVICES_URL] = url;
  return async () => {
    delete process.env[SERVICES_URL];
    server.closeAllConnections();
    server.close();
    const stopped = [...started.values()].map((service) => service.then((running) => running.stop()));
    await Promise.allSettled(stopped);
    console.log(reportOf(new Set(started.keys())));
  };
}

async function listen(answer: (path: Path, response: ServerResponse) => void): Promise<Server> {
  const server = createServer((request, response) => {
    const path = request.url;
    if (path === "/postgres" || path === "/redis") answer(path, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Tells which stores and brokers this run has tried. */
function reportOf(asked: ReadonlySet<string>): string {
  const postgres = asked.has("/postgres") ? `PostgreSQL ${postgresVersion()}` : noneOf(whyNoPostgres, "PostgreSQL");
  const redis = asked.has("/redis") ? `Redis ${redisVersion()}` : noneOf(whyNoRedis, "Redis");
  return `Stores of this run: SQLite ${process.versions["sqlite"]}; ${postgres}; ${redis}`;
}

function noneOf(why: () => string | undefined, name: string): string {
  try {
    const reason = why();
    return reason === undefined ? `no test asked for ${name}` : `tests with ${name} were skipped (${reason})`;
  } catch (error) {
    return error instanceof Error ? error.message : `no ${name}`;
  }
}
