import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer, type Server, type Socket } from "node:net";
import { assert } from "../../src/base/assert.ts";

/** A model server of the test's own making. */
export interface ModelServer {
  /** As `MODEL_BASE_URL` wants it. */
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** One that speaks HTTP. */
export async function serveModel(answer: RequestListener): Promise<ModelServer> {
  return started(createServer(answer));
}

/** One that speaks bytes: `answer` gets each connection once a whole call has come; `greet` gets it before. */
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

/** A port of this machine on which nobody listens. */
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

/** A chunk of an answer's text. */
export function chunk(content: string, finishReason: string | null = null): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: content === "" ? {} : { content }, finish_reason: finishReason }],
  };
}
