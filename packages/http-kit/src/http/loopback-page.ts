import { once } from "node:events";
import { createServer } from "node:http";

const HOST = "127.0.0.1";
const CONNECTIONS_MAX = 16;
const REQUEST_TIMEOUT_MS = 10_000;

/** What a page says, as plain text. */
export interface PageReply {
  readonly status: number;
  readonly text: string;
}

export interface LoopbackPage {
  readonly port: number;
  readonly close: () => void;
}

/**
 * Serves pages to a browser of this machine for a short time. Each GET is answered by its address; nothing of it is
 * logged. Port 0 takes any free one. Rejects with the system's error.
 */
export async function serveLoopbackPage(port: number, answer: (address: URL) => PageReply): Promise<LoopbackPage> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const address = URL.parse(request.url ?? "/", `http://${HOST}`);
    const isRead = request.method === "GET" && address !== null;
    const { status, text } = isRead ? answer(address) : { status: 405, text: "This page can only be read." };
    response.writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer", // The address may hold a secret.
      connection: "close",
    });
    response.end(`${text}\n`);
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(port, HOST);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}
