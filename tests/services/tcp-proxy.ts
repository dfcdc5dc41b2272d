import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A stretch of network between a server and one of its services that can be broken. Call `listen` first. */
export class TcpProxy {
  readonly #server: Server = createServer((near) => this.#join(near));
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #target: URL;
  #port = 0;
  #manner: "cut" | "passing" | "silent" = "passing";
  #delayMs = 0;

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address !== null && typeof address !== "string") this.#port = address.port;
  }

  /** The address of a service, by way of this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = "127.0.0.1";
    changed.port = String(this.#port);
    return changed.href.replace(/\/$/, "");
  }

  /** Connects to another service from now on. */
  aim(target: string): void {
    this.#target = new URL(target);
  }

  /** Ends all connections and refuses new ones, as a machine does whose program has ended. */
  async cut(): Promise<void> {
    this.#manner = "cut";
    const closed = once(this.#server, "close");
    this.close();
    await closed;
  }

  /** Passes nothing on and says nothing, as a network does that was cut: connections stay open at both ends. */
  silence(): void {
    this.#manner = "silent";
  }

  /** Passes everything on after so many milliseconds. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Passes everything on again. Connections that were silent are ended. */
  async heal(): Promise<void> {
    const before = this.#manner;
    this.#manner = "passing";
    this.#delayMs = 0;
    if (before === "silent") this.#endAll();
    if (before === "cut") await this.listen();
  }

  close(): void {
    this.#server.close();
    this.#endAll();
  }

  #join(near: Socket): void {
    const far = connect(Number(this.#target.port), this.#target.hostname);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      if (this.#manner === "silent") return; // The other end does not hear of it.
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    this.#pass(near, far);
    this.#pass(far, near);
  }

  #pass(from: Socket, to: Socket): void {
    let turn: Promise<unknown> = Promise.resolve();
    from.on("data", (bytes) => {
      if (this.#manner !== "passing") return;
      const due = this.#delayMs === 0 ? null : sleep(this.#delayMs);
      turn = turn.then(() => due).then(() => to.destroyed || this.#manner !== "passing" || to.write(bytes));
    });
  }

  #endAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }
}
