import type { Cluster } from "./cluster.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** The connection broke: the node died, or the reply ended before it was whole. */
export class ConnectionBroken extends Error {
  override readonly name = "ConnectionBroken";
}

/** Between a client and the nodes. */
export interface Wire {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly cluster: Cluster;
}

const LATENCY_MS = 5;
/** How long a client takes to notice that its node died, in milliseconds. */
const NOTICE_MS = 50;

/** One request of a client to a node. What happens on the node are steps of the node. */
export class Connection {
  readonly #wire: Wire;
  readonly #client: Actor;
  readonly #node: Node;
  /** Aborts on the node when the client leaves. */
  readonly #left = new AbortController();
  readonly #broken = Promise.withResolvers<never>();
  readonly #unwatch: () => void;
  #arrivesAt = 0;

  constructor(wire: Wire, client: Actor, node: Node) {
    this.#wire = wire;
    this.#client = client;
    this.#node = node;
    this.#broken.promise.catch(() => {});
    this.#unwatch = wire.cluster.watch(node.actor, () => {
      wire.scheduler.plan(client, NOTICE_MS, "connection broken", () =>
        this.#broken.reject(new ConnectionBroken("the node died")),
      );
    });
  }

  /** The client leaves: the node learns of it. */
  leave(): void {
    this.#unwatch();
    this.#wire.scheduler.plan(this.#node.actor, this.#latency(), "client leaves", () => this.#left.abort());
    this.#broken.reject(new ConnectionBroken("the client left"));
  }

  /** Runs `work` on the node, and resolves with its reply on the client. */
  async ask<Reply>(label: string, work: (node: Node, signal: AbortSignal) => Promise<Reply>): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#wire.scheduler.plan(this.#node.actor, this.#latency(), label, () => {
      work(this.#node, this.#left.signal).then(
        (reply) => this.#deliver("reply", () => resolve(reply)),
        (fault: unknown) => this.#deliver("refusal", () => reject(fault)),
      );
    });
    return await Promise.race([promise, this.#broken.promise]);
  }

  /** Reads a streamed reply to its end. `take` is called on the client for each text, in order. */
  async read(texts: AsyncIterable<string>, take: (text: string) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const pump = async (): Promise<void> => {
      for await (const text of texts) this.#deliver("frames", () => take(text));
    };
    this.#wire.scheduler.plan(this.#node.actor, 0, "send", () => {
      pump().then(
        () => this.#deliver("end of reply", resolve),
        (fault: unknown) => this.#deliver("broken reply", () => reject(new ConnectionBroken(String(fault)))),
      );
    });
    await Promise.race([promise, this.#broken.promise]);
  }

  close(): void {
    this.#unwatch();
  }

  /** What a node has sent arrives, in order, even if the node is dead by then. */
  #deliver(label: string, take: () => void): void {
    const { scheduler } = this.#wire;
    this.#arrivesAt = Math.max(this.#arrivesAt, scheduler.now + this.#latency());
    scheduler.plan(this.#client, this.#arrivesAt - scheduler.now, label, take);
  }

  #latency(): number {
    return this.#wire.random.between(0, LATENCY_MS);
  }
}
