import { setTimeout as sleep } from "node:timers/promises";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import {
  lastChunk,
  type ReceivedCall,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { onPostgres, query } from "../kit/tested-store.ts";
import { readResponse } from "../responses/read-stream.ts";

/**
 * A model server that answers at once, except to the input `wait`, which it answers when released, and `silence`, which
 * it never answers.
 */
export async function serveModel() {
  const gate = Promise.withResolvers<void>();
  const model = await serveChat(async (response, call: ReceivedCall) => {
    if (call.body.includes("silence")) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("Well ")));
    if (call.body.includes("wait")) await gate.promise;
    response.end(sse(textChunk("done"), lastChunk("stop"), "[DONE]"));
  });
  return {
    url: `${model.origin}/v1`,
    release: gate.resolve,
    calls: () => model.calls.length,
    /** The calls that ask for a stream, as every turn does. */
    turns: () => model.calls.filter(({ body }) => body.includes('"stream":true')).length,
    closed: () => model.calls.at(-1)?.closed,
  };
}

/** The text in what the store is sent when the call of a tool begins and ends, and when a file of it is stored. */
export const STORED_STEP = onPostgres
  ? {
      begin: "insert into tool_exchanges",
      finish: "update tool_exchanges set output",
      file: "insert into container_files",
    }
  : { begin: "step: { type: 'begin'", finish: "step: { type: 'finish'", file: 'insert into "container_files"' };

/** Starts a server on this folder; it ends with the test at the latest. */
export function start(
  dataDir: string,
  modelUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildServer> {
  return startChildServer({
    env: { NODE_ENV: "production", DATA_DIR: dataDir, MODEL_BASE_URL: modelUrl, ...env },
  });
}

export async function enqueue(server: ChildServer, input: string): Promise<string> {
  const reply = await server.post("/v1/responses", { model: "m", input, background: true });
  return (await readResponse(reply)).id;
}

export async function until(server: ChildServer, id: string, ...statuses: readonly string[]): Promise<ResponseBody> {
  for (;;) {
    const response = await readResponse(await server.fetch(`/v1/responses/${id}`));
    if (statuses.includes(response.status)) return response;
    await sleep(50);
  }
}

/** Changes the database as if the first server had been away for longer than its lease. */
export async function expireLease(folder: string): Promise<void> {
  await query(folder, "update workers set expires_at = 0 where id = (select min(id) from workers)");
}
