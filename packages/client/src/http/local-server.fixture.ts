import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Writes the reply to the `count`th request. */
export type Answer = (reply: ServerResponse, request: SeenRequest, count: number) => void | Promise<void>;

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  readonly server: Server;
  /** Settles when the first connection has closed. */
  readonly closed: Promise<void>;
}

export async function startLocalServer(answer: Answer): Promise<LocalServer> {
  const requests: SeenRequest[] = [];
  const receive = async (request: IncomingMessage, reply: ServerResponse) => {
    const body = await text(request);
    const seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    await answer(reply, seen, requests.push(seen));
  };
  const server = createServer((request, reply) => {
    receive(request, reply).catch((error: unknown) => reply.destroy(error instanceof Error ? error : undefined));
  });
  return listen(server, requests);
}

export async function listen(server: Server, requests: readonly SeenRequest[] = []): Promise<LocalServer> {
  const closed = new Promise<void>((resolve) => {
    server.on("connection", (socket) => {
      socket.on("close", () => resolve());
      socket.on("error", () => undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, requests, server, closed, [Symbol.asyncDispose]: close };
}

export function sendJson(
  reply: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  reply.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function openEvents(reply: ServerResponse): void {
  reply.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_stream" });
}

export function eventText(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export function bodyOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}
