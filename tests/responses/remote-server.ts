import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";

export interface RemoteServer {
  readonly url: string;
  /** What was asked for, oldest first. */
  readonly paths: readonly string[];
}

/** A server somewhere in the world, as far as ours is concerned; on a real port. Ends with the test. */
export async function serveRemote(answer: RequestListener): Promise<RemoteServer> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { url: `http://127.0.0.1:${address.port}`, paths };
}

/** Answers every call with these bytes. */
export function sends(bytes: Buffer | string, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => {
    response.writeHead(200, headers);
    response.end(bytes);
  };
}
