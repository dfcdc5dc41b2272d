import { isMainThread, parentPort } from "node:worker_threads";
import { assert } from "@antiphon/base/assert.ts";
import { messageOfError } from "../owner/thread/messages.ts";
import type { ChunkSearch } from "./chunk-search.ts";
import type { SearchAnswer, SearchRequest } from "./search-messages.ts";

/** Answers the requests to this thread, one after the other. */
export function serveSearches(search: ChunkSearch): void {
  assert(!isMainThread && parentPort !== null, "searches are served in a thread");
  const port = parentPort;
  let earlier = Promise.resolve();
  port.on("message", (request: SearchRequest) => {
    earlier = earlier.then(async () => port.postMessage(await answerSearch(search, request)));
  });
}

async function answerSearch(search: ChunkSearch, request: SearchRequest): Promise<SearchAnswer> {
  const { id, name } = request;
  try {
    if (name === "models") return { id, name, models: await search.modelsOf(request.scope) };
    return { id, name, found: await search.find(request.scope, request.questions, request.perKindMax) };
  } catch (error) {
    return { id, name: "failed", error: messageOfError(error) };
  }
}
