import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";

/** A model that says one word at once and the second when all are released. */
export async function serveUntilReleased() {
  const released = Promise.withResolvers<void>();
  let waiting = 0;
  const { origin } = await serveChat(async (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("One ")));
    waiting += 1;
    await released.promise;
    return response.end(sse(textChunk("two"), lastChunk("stop"), "[DONE]"));
  });
  return { url: `${origin}/v1`, waiting: () => waiting, release: () => released.resolve() };
}

/** The id in the body of a reply. */
export function idIn(body: unknown): string {
  if (typeof body === "object" && body !== null && "id" in body) return String(body.id);
  throw new Error("the response has no id");
}
