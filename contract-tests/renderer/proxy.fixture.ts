import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";

/** Serves the page to each browser window, and holds the replies to its requests. */
export interface Proxy {
  connectPage(): PageConnection;
  close(): void;
}

/** The connection of one page. All pages have the same URL, so the URL makes no visible difference. */
export interface PageConnection {
  /** The page's URL. The page sends its requests to `v1/responses` relative to it. */
  readonly url: string;
  /** Headers that the browser must send with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns the page's next unread request. Rejects after `REQUEST_WAIT_MS`. */
  nextRequest(): Promise<HeldReply>;
}

/** A reply that the page waits for. The test sends it piece by piece. */
export interface HeldReply {
  readonly request: unknown;
  begin(contentType: string): void;
  send(frame: string): void;
  end(): void;
}

const PAGE_HEADER = "x-page";
const REQUEST_WAIT_MS = 10_000;
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" };

export async function startProxy(page: ReadonlyMap<string, string>): Promise<Proxy> {
  const connections: Queue[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^[/]|[?].*/g, "");
    const connection = connections[Number(request.headers[PAGE_HEADER])];
    if (path === "v1/responses") void hold(request, response).then((reply) => connection?.add(reply));
    else sendFile(response, path === "" ? "index.html" : path, page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    connectPage: () => {
      const queue = new Queue();
      connections.push(queue);
      const headers = { [PAGE_HEADER]: String(connections.length - 1) };
      return { url: addressOf(server), headers, nextRequest: () => queue.next() };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Holds requests that no one has read yet, or the reader that waits for the next one. */
class Queue {
  readonly #waiting: HeldReply[] = [];
  #taker: ((reply: HeldReply) => void) | null = null;

  add(reply: HeldReply): void {
    if (this.#taker === null) this.#waiting.push(reply);
    else this.#taker(reply);
    this.#taker = null;
  }

  next(): Promise<HeldReply> {
    const first = this.#waiting.shift();
    if (first !== undefined) return Promise.resolve(first);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("The page sent no further request.")), REQUEST_WAIT_MS);
      this.#taker = (reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
    });
  }
}

async function hold(request: IncomingMessage, response: ServerResponse): Promise<HeldReply> {
  const body: unknown = JSON.parse(await readText(request));
  return {
    request: body,
    begin: (contentType) => {
      response.writeHead(200, { "content-type": contentType });
      response.flushHeaders();
    },
    send: (frame) => {
      response.write(frame);
    },
    end: () => {
      response.end();
    },
  };
}

function sendFile(response: ServerResponse, path: string, page: ReadonlyMap<string, string>): void {
  const file = page.get(path);
  const type = TYPES[path.replace(/^.*[.]/, "")] ?? "application/octet-stream";
  response.writeHead(file === undefined ? 404 : 200, { "content-type": type, "cache-control": "max-age=60" });
  response.end(file);
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return `http://127.0.0.1:${address.port}`;
}
