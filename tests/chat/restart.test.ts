import { readUIMessageStream, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { AntiphonChatTransport } from "../../packages/client/src/chat/index.ts";
import { Antiphon } from "../../packages/client/src/index.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { serveWrittenChat } from "./reloaded-model.ts";

/** A server starts twice. */
const RESTARTS = { timeout: 60_000 };

const COUNT: UIMessage = { id: "asks count", role: "user", parts: [{ type: "text", text: "Count" }] };
const AGAIN: UIMessage = { id: "asks again", role: "user", parts: [{ type: "text", text: "Again" }] };

/** A chat with a server that can be killed and started again at the same address. */
async function openChat(members: object = {}) {
  const model = await serveWrittenChat();
  const env = { DATA_DIR: temporaryFolder(), MODEL_BASE_URL: `${model.origin}/v1`, MODEL_CONTINUATION: "none" };
  const first = await startChildServer({ env });
  const again = (): Promise<ChildServer> => startChildServer({ env: { ...env, PORT: new URL(first.url).port } });
  const client = new Antiphon({ baseUrl: first.url, apiKey: first.apiKey });
  const transport = new AntiphonChatTransport({ client, request: { model: "m", ...members } });
  const send = (messages: UIMessage[]) =>
    transport.sendMessages({
      trigger: "submit-message",
      chatId: "chat",
      messageId: undefined,
      messages,
      abortSignal: undefined,
    });
  return { model, first, again, send };
}

/** Reads a stream on, message by message. */
function reading(stream: Awaited<ReturnType<AntiphonChatTransport["sendMessages"]>>) {
  const errors: string[] = [];
  const shown: UIMessage[] = [];
  const onError = (error: unknown): void => void errors.push(error instanceof Error ? error.message : String(error));
  const end = (async () => {
    for await (const message of readUIMessageStream({ stream, onError })) shown.push(message);
  })();
  const parts = (): UIMessage["parts"] => shown.at(-1)?.parts ?? [];
  return {
    errors,
    end,
    words: () => JSON.stringify(parts()),
    texts: () => parts().flatMap((part) => (part.type === "text" ? [part.text] : [])),
    message: () => shown.at(-1),
  };
}

test(
  "an answer of which nothing was shown goes on after the server was killed and started again",
  RESTARTS,
  async () => {
    verifies("client.chat.survives-a-reload");
    const { model, first, again, send } = await openChat();
    const chat = reading(await send([COUNT]));
    await model.call(0);
    await expect.poll(chat.message).toBeDefined(); // It knows which response it takes up.
    await first.kill();
    await again();
    const call = await model.call(1);
    call.say("One, two.");
    call.finish("stop");
    await chat.end;
    expect(chat.errors).toEqual([]);
    expect(chat.words()).toContain("One, two.");
  },
);

test(
  "an answer in which the server was killed and started again goes on, with other words as another text",
  RESTARTS,
  async () => {
    verifies("client.chat.survives-a-reload");
    const { model, first, again, send } = await openChat();
    const [same, other] = [reading(await send([COUNT])), reading(await send([AGAIN]))];
    for (const index of [0, 1]) (await model.call(index)).say("One, ");
    for (const chat of [same, other]) await expect.poll(chat.words).toContain("One, ");
    await first.kill();
    await again();
    for (const index of [2, 3]) {
      const call = await model.call(index);
      call.say(call.asks("Count") ? "One, two." : "Never mind.");
      call.finish("stop");
    }
    await Promise.all([same.end, other.end]);
    expect([same.errors, other.errors]).toEqual([[], []]);
    expect(same.texts()).toEqual(["One, two."]);
    expect(other.texts()).toEqual(["One, ", "Never mind."]);
  },
);

test(
  "an answer that fails when it is interrupted keeps its words and says so, and the chat goes on",
  RESTARTS,
  async () => {
    verifies("client.chat.survives-a-reload");
    const { model, first, again, send } = await openChat({ interruption: "fail" });
    const chat = reading(await send([COUNT]));
    (await model.call(0)).say("One, ");
    await expect.poll(chat.words).toContain("One, ");
    await first.kill();
    await again();
    await chat.end;
    expect(chat.errors).toEqual([expect.stringMatching(/server/i)]);
    expect(chat.words()).toContain("One, ");
    const answered = chat.message();
    if (answered === undefined) throw new Error("There is no message.");
    const next = reading(await send([COUNT, answered, AGAIN]));
    const call = await model.call(1);
    call.say("One, two.");
    call.finish("stop");
    await next.end;
    expect([next.errors, next.message()?.parts.at(-1)]).toMatchObject([[], { text: "One, two." }]);
  },
);
