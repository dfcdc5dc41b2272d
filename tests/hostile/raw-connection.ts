import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A raw socket to the server, for clients that no HTTP library would imitate. Errors are only recorded. */
export class RawConnection {
  readonly socket: Socket;
  #received = "";

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text) => (this.#received += String(text)));
    socket.on("error", () => {});
  }

  static async open(url: string, options: { readonly allowHalfOpen?: boolean } = {}): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: options.allowHalfOpen ?? false });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  /** Everything received. */
  get received(): string {
    return this.#received;
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Resolves when the received bytes match. */
  async until(fits: (received: string) => boolean): Promise<string> {
    while (!fits(this.#received)) {
      if (this.socket.destroyed || this.socket.readableEnded)
        throw new Error(`the connection ended after: ${this.#received.slice(-500)}`);
      await Promise.race([once(this.socket, "data"), once(this.socket, "close"), once(this.socket, "end")]);
    }
    return this.#received;
  }

  /** Resolves with everything received before the server closed. */
  async untilClosed(): Promise<string> {
    if (!this.socket.destroyed) await once(this.socket, "close");
    return this.#received;
  }

  leave(): void {
    this.socket.destroy();
  }
}

/** The head of a create call, including its empty line. */
export function createHead(apiKey: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({
    host: "localhost",
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    ...headers,
  });
  return ["POST /v1/responses HTTP/1.1", ...lines.map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");
}

/** A complete create call. */
export function createCall(apiKey: string, body: unknown): string {
  const text = JSON.stringify(body);
  return createHead(apiKey, { "content-length": Buffer.byteLength(text) }) + text;
}

/** The body of the reply once it is complete; for replies that declare their length. */
export function bodyOf(received: string): string {
  return received.slice(received.indexOf("\r\n\r\n") + 4);
}

export function isWhole(received: string): boolean {
  const length = /^content-length: (\d+)/im.exec(received)?.[1];
  return length !== undefined && Buffer.byteLength(bodyOf(received)) >= Number(length);
}

/** The received part of a chunked body. */
export function chunkedBodyOf(received: string): string {
  let rest = Buffer.from(bodyOf(received));
  let body = "";
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.toString("latin1", 0, Math.max(end, 0)), 16);
    if (end < 0 || !(size > 0)) return body;
    body += rest.toString("utf8", end + 2, end + 2 + size);
    rest = rest.subarray(end + 2 + size + 2);
  }
}
