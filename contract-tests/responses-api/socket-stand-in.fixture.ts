import { once } from "node:events";
import { type WebSocket, WebSocketServer } from "ws";

/** When the stand-in sends its text: when a client connects, or when it sends a message. */
type Moment = "opened" | "asked";

/** A stand-in server that sends the same text to every client. */
export class SocketStandIn {
  readonly #server: WebSocketServer;
  readonly received: string[] = [];
  readonly upgrades: { readonly path: string; readonly authorization: string }[] = [];

  private constructor(server: WebSocketServer) {
    this.#server = server;
  }

  static async start(moment: Moment, text: string): Promise<SocketStandIn> {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    const standIn = new SocketStandIn(server);
    server.on("connection", (socket: WebSocket, { url = "", headers }) => {
      standIn.upgrades.push({ path: url, authorization: headers.authorization ?? "" });
      socket.on("message", (bytes: Buffer) => {
        standIn.received.push(bytes.toString());
        if (moment === "asked") socket.send(text);
      });
      if (moment === "opened") socket.send(text);
    });
    await once(server, "listening");
    return standIn;
  }

  get baseUrl(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the stand-in has no port");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }
}
