import { connect, createServer, type Server, type Socket } from "node:net";

/** How traffic is treated. `drop_answers` passes statements and drops replies. */
type Mode = "pass" | "drop_answers" | "cut";

/** A connection between a store and its database that a test can break. */
export class AnswerDropper {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #mode: Mode = "pass";

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async to(url: string): Promise<AnswerDropper> {
    const dropper = new AnswerDropper(new URL(url));
    await new Promise<void>((resolve) => dropper.#server.listen(0, "127.0.0.1", resolve));
    return dropper;
  }

  /** The address of the database behind this proxy. */
  get url(): string {
    const address = this.#server.address();
    const url = new URL(this.#target);
    url.port = String(typeof address === "object" ? address?.port : "");
    return url.href;
  }

  set mode(mode: Mode) {
    this.#mode = mode;
    if (mode === "cut") this.#endAll();
  }

  /** Lets new connections work; the existing ones have ended. */
  heal(): void {
    this.#endAll();
    this.#mode = "pass";
  }

  close(): void {
    this.#endAll();
    this.#server.close();
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    const database = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.on("data", (bytes) => {
        if (this.#mode === "pass" || (this.#mode === "drop_answers" && socket === client)) other.write(bytes);
      });
    }
    if (this.#mode === "cut") client.destroy();
  }
}
