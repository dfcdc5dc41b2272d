import type { AntiphonSpeech, LocalStt } from "../../src/client/index.ts";
import { Conversation } from "./conversation.ts";
import { isRecord, keep, kept } from "./kept.ts";

type Message = LocalStt.DemoChatMessage;

/** The most messages that the server accepts in one request. */
const MESSAGES_MAX = 200;
const KEPT_AS = "chat-messages";

/** A chat with the formatting provider, through the speech server. */
export function openChat(speech: AntiphonSpeech, takeText: () => string): Conversation {
  let messages = keptMessages();
  const remember = (said: Message[]): void => {
    messages = said;
    keep(KEPT_AS, said);
  };

  async function* ask(question: string, signal: AbortSignal): AsyncGenerator<string, string> {
    const asked = [...messages, { role: "user" as const, content: question }].slice(1 - MESSAGES_MAX);
    for await (const line of await speech.demoChat({ messages: asked, stream: true }, { signal })) {
      if (line.type === "chat.delta") yield line.text;
      if (line.type !== "chat.done") continue;
      remember([...asked, line.message]);
      return `Answered by ${line.model}.`;
    }
    return "";
  }

  // The speech server stores nothing, so a reload ends an answer there.
  return new Conversation({ id: "chat", takeText, ask, resume: () => null, forget: () => remember([]) });
}

function keptMessages(): Message[] {
  const value = kept(KEPT_AS);
  return Array.isArray(value) ? value.filter(isMessage) : [];
}

function isMessage(value: unknown): value is Message {
  return isRecord(value) && typeof value["role"] === "string" && typeof value["content"] === "string";
}
