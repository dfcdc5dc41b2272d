import { isMainThread, parentPort } from "node:worker_threads";
import { assert, assertNever } from "@antiphon/base/assert.ts";
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
  const { id } = request;
  try {
    switch (request.name) {
      case "models":
        return { id, name: request.name, models: await search.modelsOf(request.scope) };
      case "languages":
        return { id, name: request.name, languages: await search.languagesOf(request.scope) };
      case "find": {
        const { scope, questions, perKindMax } = request;
        return { id, name: request.name, found: await search.find(scope, questions, perKindMax) };
      }
      default:
        return assertNever(request);
    }
  } catch (error) {
    return { id, name: "failed", error: messageOfError(error) };
  }
}
