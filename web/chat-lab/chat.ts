import type { AntiphonSpeech, LocalStt } from "../../packages/client/src/index.ts";
import { Conversation } from "./conversation.ts";
import { isRecord, keep, kept } from "./kept.ts";

type Message = LocalStt.DemoChatMessage;

/** The most messages that the server accepts in one request. */
const MESSAGES_MAX = 200;
const MESSAGES = "chat-messages";
const RUNNING = "chat-running";

/** A chat with the formatting provider, through the speech server. An answer goes on when the page is reloaded. */
export function openChat(speech: AntiphonSpeech, takeText: () => string): Conversation {
  let messages = messagesOf(kept(MESSAGES));
  const remember = (said: Message[]): void => {
    messages = said;
    keep(MESSAGES, said);
  };

  async function* read({ id, asked }: Running, signal: AbortSignal): AsyncGenerator<string, string> {
    try {
      const request = { messages: asked, stream: true, answer_id: id } as const;
      for await (const line of await speech.demoChat(request, { signal })) {
        if (line.type === "chat.delta") yield line.text;
        if (line.type !== "chat.done") continue;
        remember([...asked, line.message]);
        return `Answered by ${line.model}.`;
      }
      return "";
    } finally {
      keep(RUNNING, null);
      if (signal.aborted) await speech.stopDemoChat({ answer_id: id }).catch(() => {}); // It then ends by itself.
    }
  }

  const ask = (question: string, signal: AbortSignal): AsyncGenerator<string, string> => {
    const asked = [...messages, { role: "user" as const, content: question }].slice(1 - MESSAGES_MAX);
    const running = { id: crypto.randomUUID(), asked };
    keep(RUNNING, running);
    return read(running, signal);
  };
  const resume = (): ((signal: AbortSignal) => AsyncGenerator<string, string>) | null => {
    const running = keptRunning();
    return running === null ? null : (signal) => read(running, signal);
  };
  return new Conversation({ id: "chat", takeText, ask, resume, forget: () => remember([]) });
}

/** An answer that is being written, and what it answers. */
interface Running {
  readonly id: string;
  readonly asked: Message[];
}

function keptRunning(): Running | null {
  const value = kept(RUNNING);
  if (!isRecord(value) || typeof value["id"] !== "string") return null;
  return { id: value["id"], asked: messagesOf(value["asked"]) };
}

function messagesOf(value: unknown): Message[] {
  return Array.isArray(value) ? value.filter(isMessage) : [];
}

function isMessage(value: unknown): value is Message {
  return isRecord(value) && typeof value["role"] === "string" && typeof value["content"] === "string";
}
