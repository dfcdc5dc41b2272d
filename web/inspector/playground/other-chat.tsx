import { useEffect, useRef } from "react";
import type { Members } from "../base/members.ts";
import { historyOf } from "./chat.ts";
import { ChatLog } from "./chat-log.tsx";
import { useChat } from "./use-chat.ts";

/** What was sent to all models at once. */
export interface SentMessage {
  /** Rises with each message. */
  readonly key: number;
  readonly settings: Members;
  readonly input: readonly Members[];
}

interface OtherChatProps {
  readonly model: string;
  /** The response that the first turn continues. */
  readonly start: string | null;
  readonly sent: SentMessage | null;
  /** Told how to stop an answer that is under way; null once there is none. */
  readonly onBusy: (model: string, stop: (() => void) | null) => void;
}

/** The chat with one more model, which gets the same messages and has turns of its own. */
export function OtherChat({ model, start, sent, onBusy }: OtherChatProps) {
  const chat = useChat(start);
  const seen = useRef(sent?.key ?? 0);
  useEffect(() => {
    if (sent === null || sent.key === seen.current) return;
    seen.current = sent.key;
    const before = sent.settings["store"] === false ? historyOf(chat.turns) : [];
    chat.send({ ...sent.settings, model }, [...before, ...sent.input]);
  }, [sent]);
  useEffect(() => {
    onBusy(model, chat.isBusy ? chat.stop : null);
    return () => onBusy(model, null);
  }, [chat.isBusy]);
  const answer = (answers: readonly Members[]): void => {
    if (sent !== null) chat.send({ ...sent.settings, model }, answers);
  };
  return (
    <section className="chat-column" aria-label={model}>
      <h2>{model}</h2>
      <ChatLog turns={chat.turns} voices={chat.voices} origin={null} onAnswer={answer} />
    </section>
  );
}
