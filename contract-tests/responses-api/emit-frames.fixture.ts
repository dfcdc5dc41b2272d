import type { Service } from "../providers.fixture.ts";
import { recipeFor, requestTo, usesExtension } from "./emit-events.fixture.ts";
import { expectLegal } from "./read-stream.fixture.ts";
import { LANE } from "./socket-situations.fixture.ts";
import { SocketTalk } from "./socket-talk.fixture.ts";

/**
 * Returns every frame that the service sends in a state. Throws if their order, numbers, ids or texts break the
 * grammar.
 */
export async function emitFrames(service: Service, state: string): Promise<readonly unknown[]> {
  const talk = await SocketTalk.open(service);
  const { request, dialect, isCancelled = false } = askFor(service, state);
  try {
    talk.send({ type: "response.create", model: service.model, ...request });
    let responseId = "";
    const frames = await talk.turn(async (frame) => {
      const { type, response } = Object(frame);
      responseId ||= String(response?.id ?? "");
      if (isCancelled && type === "response.content_part.added") await cancel(service, responseId);
    });
    expectLegal(state, frames.map((frame) => JSON.stringify(frame)).join("\n"), dialect);
    return frames;
  } finally {
    talk.close();
  }
}

interface Asking {
  readonly request: Readonly<Record<string, unknown>>;
  readonly dialect: "reference" | "extension";
  readonly isCancelled?: boolean;
}

function askFor(service: Service, state: string): Asking {
  if (state === "a response in a lane")
    return { request: { input: "Say hello", stream_id: LANE }, dialect: "reference" };
  if (state === "a response that is cancelled while a socket tells of it")
    return { request: { input: "Please play: hold" }, dialect: "reference", isCancelled: true };
  const recipe = recipeFor(state);
  return { request: requestTo(service, recipe), dialect: usesExtension(recipe) ? "extension" : "reference" };
}

async function cancel({ url, apiKey }: Service, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const reply = await fetch(`${url}/v1/responses/${id}/cancel`, { method: "POST", headers });
  if (!reply.ok) throw new Error(`cancel: ${reply.status} ${await reply.text()}`);
}
