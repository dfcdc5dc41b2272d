import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/**
 * A load balancer as clouds have them: it asks each server whether it is ready, sends each request to one of those
 * that are, and tries none again.
 */
export class Balancer {
  readonly url: string;
  readonly #servers = new Set<string>();
  readonly #ready = new Set<string>();
  #turn = 0;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** It ends with the test. */
  static async start(): Promise<Balancer> {
    const server = createServer({ keepAliveTimeout: IDLE_MS });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the balancer has no port");
    const balancer = new Balancer(address.port);
    server.on("request", (from, to) => balancer.#pass(from, to));
    onTestFinished(() => {
      balancer.#servers.clear();
      server.closeAllConnections();
      server.close();
    });
    return balancer;
  }

  /** Resolves when it first sends requests to the server at this address. */
  async add(url: string): Promise<void> {
    this.#servers.add(url);
    void this.#watch(url);
    while (!this.#ready.has(url)) await sleep(PROBE_MS);
  }

  /** For a server that has ended. */
  remove(url: string): void {
    this.#servers.delete(url);
    this.#ready.delete(url);
  }

  async #watch(url: string): Promise<void> {
    for (; this.#servers.has(url); await sleep(PROBE_MS)) {
      const isReady = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady && this.#servers.has(url)) this.#ready.add(url);
      else this.#ready.delete(url);
    }
  }

  #pass(from: IncomingMessage, to: ServerResponse): void {
    const ready = [...this.#ready];
    const url = ready[this.#turn++ % ready.length];
    if (url === undefined) return void to.writeHead(502).end("no server is ready");
    const { hostname, port } = new URL(url);
    const { method, url: path, headers } = from;
    const asked = request({ hostname, port, method, path, headers, agent: false }, (reply) => {
      to.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(to);
      reply.on("error", () => to.destroy());
    });
    asked.on("error", (error) => (to.headersSent ? to.destroy() : to.writeHead(502).end(error.message)));
    to.on("close", () => asked.destroy());
    from.pipe(asked);
  }
}

/** Longer than a trial: a connection that is closed while a client writes to it is an error of this balancer. */
const IDLE_MS = 600_000;

/** A stopping server serves on for several times as long: see `DRAIN_DELAY_MS`. */
const PROBE_MS = 100;
