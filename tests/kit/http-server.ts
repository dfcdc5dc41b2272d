import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export { freePort } from "../services/free-port.ts";

/** An HTTP server with a handler of the test, on a real port. */
export interface HttpServer {
  /** Has no trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The requests received, oldest first. */
  readonly paths: readonly string[];
}

/** Answers with the given handler until the test ends, or until another moment, such as `afterAll`. */
export async function serveHttp(
  answer: RequestListener,
  atEnd: (close: () => void) => void = onTestFinished,
  host = "127.0.0.1",
): Promise<HttpServer> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { url: `http://${host}:${address.port}`, port: address.port, paths };
}

/** Answers every call with these bytes. */
export function sends(bytes: Buffer | string, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(200, headers);
    response.end(bytes);
  };
}

/** Writes this again and again, as fast as it is read, until the connection is closed. */
export function writeForever(response: ServerResponse, piece: Buffer | string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
    response.once("drain", write);
  };
  write();
}

/** Writes this every few milliseconds until the connection is closed. */
export function drip(response: ServerResponse, piece: string): void {
  const timer = setInterval(() => response.write(piece), DRIP_MS);
  response.once("close", () => clearInterval(timer));
}

const DRIP_MS = 10;
