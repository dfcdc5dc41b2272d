import { useChat } from "@ai-sdk/react";
import { type FormEvent, useMemo, useState } from "react";
import { assistantOf, type ChatMessage, type Settings } from "./assistant.ts";

/** A chat as its library's guide builds it: messages with their parts, the state, the error, and a place to write. */
export function Chat({ settings }: { readonly settings: Settings }) {
  const [text, setText] = useState("");
  const transport = useMemo(() => assistantOf(settings), [settings]);
  const { messages, sendMessage, status, error } = useChat<ChatMessage>({ id: "chat", transport });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    void sendMessage({ text });
    setText("");
  };
  return (
    <main aria-label="Chat">
      {messages.map((message, place) => (
        <Message key={place} message={message} />
      ))}
      {error === undefined ? null : <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <label>
          Message
          <input value={text} onChange={({ target }) => setText(target.value)} />
        </label>
        <p id="status" role="status">
          {status}
        </p>
      </form>
    </main>
  );
}

function Message({ message: { role, parts, metadata } }: { readonly message: ChatMessage }) {
  return (
    <article aria-label={role} data-author={role}>
      {parts.map((part, place) => (
        <Part key={place} part={part} />
      ))}
      {metadata === undefined ? null : (
        <p>
          {metadata.finishReason}, {metadata.inputTokens} tokens in, {metadata.outputTokens} out
        </p>
      )}
    </article>
  );
}

function Part({ part }: { readonly part: ChatMessage["parts"][number] }) {
  switch (part.type) {
    case "text":
      return <p data-state={part.state}>{part.text}</p>;
    case "reasoning":
      return (
        <details open data-state={part.state}>
          <summary>Reasoning</summary>
          <p>{part.text}</p>
        </details>
      );
    case "step-start":
      return <hr />;
    case "source-url":
      return <a href={part.url}>{part.title}</a>;
    default:
      return "toolCallId" in part ? <ToolCall part={part} /> : <p>{part.type}</p>;
  }
}

function ToolCall({ part }: { readonly part: Extract<ChatMessage["parts"][number], { toolCallId: string }> }) {
  return (
    <figure data-state={part.state}>
      <figcaption>
        {part.type}: {part.state}
      </figcaption>
      <p>{JSON.stringify(part.input)}</p>
      {part.state === "output-available" ? <p>{JSON.stringify(part.output)}</p> : null}
      {part.state === "output-error" ? <p role="alert">{part.errorText}</p> : null}
    </figure>
  );
}
