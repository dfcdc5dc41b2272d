import { useChat } from "@ai-sdk/react";
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from "ai";
import { type SubmitEvent, useMemo, useState } from "react";
import { AntiphonChatTransport } from "../../packages/client/src/chat/index.ts"; // antiphon-client/chat
import { Antiphon } from "../../packages/client/src/index.ts"; // antiphon-client
import type { Server } from "./server.ts";

const CHAT_ID = "chat-page";

/** A tool that this page runs itself. */
const TOOLS = [
  {
    type: "function" as const,
    name: "add_numbers",
    description: "Adds two numbers.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
  },
];

/** A chat whose answers go on while the page is reloaded or its connection is away. */
export function Chat({ server }: { readonly server: Server }) {
  const [text, setText] = useState("");
  const transport = useMemo(() => transportTo(server), [server]);
  const { messages, sendMessage, setMessages, status, error, addToolOutput } = useChat({
    id: CHAT_ID,
    transport,
    messages: transport.messagesOf(CHAT_ID),
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
      if (toolName === "add_numbers") void addToolOutput({ tool: toolName, toolCallId, output: sumOf(input) });
    },
  });
  const isBusy = status === "submitted" || status === "streaming";
  const send = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (text.trim() === "" || isBusy) return;
    void sendMessage({ text });
    setText("");
  };
  const startAnew = (): void => {
    transport.forget(CHAT_ID);
    setMessages([]);
  };
  return (
    <main aria-busy={isBusy}>
      <h1>A chat that survives a reload</h1>
      {messages.map((message) => (
        <Message key={message.id} message={message} />
      ))}
      {error === undefined ? null : <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <label>
          Message
          <input value={text} onChange={({ target }) => setText(target.value)} />
        </label>
        <button type="submit">Send</button>
        <button type="button" disabled={!isBusy} onClick={() => void transport.cancel(CHAT_ID)}>
          Stop
        </button>
        <button type="button" disabled={isBusy} onClick={startAnew}>
          New chat
        </button>
      </form>
    </main>
  );
}

function transportTo({ baseUrl, apiKey, model }: Server): AntiphonChatTransport {
  const client = new Antiphon({ baseUrl, apiKey });
  return new AntiphonChatTransport({ client, request: { model, reasoning: { summary: "auto" }, tools: TOOLS } });
}

function sumOf(input: unknown): number {
  const { a = 0, b = 0 } = Object(input);
  return Number(a) + Number(b);
}

function Message({ message: { role, parts } }: { readonly message: UIMessage }) {
  return (
    <article aria-label={role} data-author={role}>
      {parts.map((part, place) => (
        <Part key={place} part={part} />
      ))}
    </article>
  );
}

function Part({ part }: { readonly part: UIMessage["parts"][number] }) {
  if (part.type === "text") return <p data-state={part.state}>{part.text}</p>;
  if (part.type === "reasoning")
    return (
      <details open data-state={part.state}>
        <summary>Reasoning</summary>
        <p>{part.text}</p>
      </details>
    );
  if (part.type === "source-url")
    return (
      <p>
        <a href={part.url}>{part.title ?? part.url}</a>
      </p>
    );
  if (part.type === "file" && part.mediaType.startsWith("image/"))
    return <img src={part.url} alt="Made by the model" />;
  if (!("toolCallId" in part)) return null;
  return (
    <details open data-state={part.state}>
      <summary>{part.type === "dynamic-tool" ? part.toolName : part.type.replace(/^tool-/, "")}</summary>
      <p>{JSON.stringify(part.input)}</p>
      {part.state === "output-available" ? <p>{JSON.stringify(part.output)}</p> : null}
      {part.state === "output-error" ? <p>{part.errorText}</p> : null}
    </details>
  );
}
