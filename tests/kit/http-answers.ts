import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

export function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Answers with what a handler in the form of `fetch` gives, in pieces as they come. */
export async function answerByFetch(
  handler: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === "string") headers.set(name, value);
  const body = method === "POST" ? await text(request) : null;
  const reply = await handler(new Request(`http://127.0.0.1${url}`, { method, headers, body }));
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  for await (const piece of reply.body ?? []) response.write(piece);
  response.end();
}
