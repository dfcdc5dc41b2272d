import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer, type Server, type Socket } from "node:net";
import { assert } from "@antiphon/base/assert.ts";

/** A model server with an answer of the test. */
export interface ModelServer {
  /** The value for `MODEL_BASE_URL`. */
  readonly url: string;
  /** Number of open connections. */
  readonly connections: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** A server that speaks HTTP. */
export async function serveModel(answer: RequestListener): Promise<ModelServer> {
  return started(createServer(answer));
}

/** A server of raw bytes. `greet` gets each connection at once, `answer` after a complete call. */
export async function serveBytes(
  answer: (socket: Socket, call: string) => void,
  greet?: (socket: Socket) => void,
): Promise<ModelServer> {
  return started(
    createSocketServer((socket) => {
      let received = "";
      greet?.(socket);
      socket.setEncoding("latin1").on("data", (text) => {
        received += String(text);
        if (!isWholeCall(received)) return;
        answer(socket, received);
        received = "";
      });
    }),
  );
}

/** A local port without a listener. */
export async function deadUrl(): Promise<string> {
  const server = await serveBytes(() => {});
  await server.close();
  return server.url;
}

async function started(server: Server): Promise<ModelServer> {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => connections.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object", "a server that listens on a port has an address");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    connections,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

function isWholeCall(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  const length = Number(/^content-length: (\d+)/im.exec(received)?.[1] ?? 0);
  return end >= 0 && received.length >= end + 4 + length;
}

/** A chunk with text of an answer. */
export function chunk(content: string, finishReason: string | null = null): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: content === "" ? {} : { content }, finish_reason: finishReason }],
  };
}
