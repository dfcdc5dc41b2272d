import type { AntiphonSpeech, LocalStt } from "../../src/client/index.ts";
import { Conversation } from "./conversation.ts";

/** The most messages that the server accepts in one request. */
const MESSAGES_MAX = 200;

/** A chat with the formatting provider, through the speech server. */
export function openChat(speech: AntiphonSpeech, takeText: () => string): Conversation {
  let messages: LocalStt.DemoChatRequest["messages"] = [];

  async function* ask(question: string, signal: AbortSignal): AsyncGenerator<string, string> {
    const asked = [...messages, { role: "user" as const, content: question }].slice(1 - MESSAGES_MAX);
    for await (const line of await speech.demoChat({ messages: asked, stream: true }, { signal })) {
      if (line.type === "chat.delta") yield line.text;
      if (line.type !== "chat.done") continue;
      messages = [...asked, line.message];
      return `Answered by ${line.model}.`;
    }
    return "";
  }

  return new Conversation({
    id: "chat",
    takeText,
    ask,
    forget: () => {
      messages = [];
    },
  });
}
