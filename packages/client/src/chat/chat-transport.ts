import type * as ResponsesApi from "@antiphon/contracts/responses-api/types.ts";
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import type { Antiphon } from "../antiphon.ts";
import { APIConnectionError, APIError, StreamBrokenError } from "../http/errors.ts";
import { ChunkMaker } from "./chunk-maker.ts";
import { type ChatStorage, type KeptChat, KeptChats, memoryStorage } from "./kept-chats.ts";
import { replayParts } from "./replayed-parts.ts";
import { type RequestInput, requestInputOf, wholeInputOf } from "./request-input.ts";

type Request = Partial<Omit<ResponsesApi.CreateResponseRequest, "input" | "previous_response_id" | "stream">>;
type Events = AsyncIterable<ResponsesApi.AnyStreamEvent>;
type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>["sendMessages"]>[0];
type ReconnectOptions = Parameters<ChatTransport<UIMessage>["reconnectToStream"]>[0];

export interface ChatTransportOptions {
  readonly client: Antiphon;
  /** Members of each request, such as model, instructions and tools. `body` of a call is added to them. */
  readonly request: Request | (() => Request);
  /** Where the latest response of each chat is stored; `sessionStorage` by default, or memory if there is none. */
  readonly storage?: ChatStorage;
  /**
   * What to resume after a reload. `latest`, the default, shows the latest response again, even an ended one, so that
   * the page needs no store. `running` resumes only a response in progress.
   */
  readonly resumes?: "latest" | "running";
}

/** Reconnections without an event in between, and the wait before the first; each later one waits twice as long. */
const RECONNECTS_MAX = 6;
const RECONNECT_WAIT_MS = 250;

/**
 * A `ChatTransport` of the AI SDK that connects to Antiphon without a server of your own. Each answer is a stored
 * background response: it continues when the page is reloaded or its connection breaks, and is resumed at the same
 * position.
 *
 * const transport = new AntiphonChatTransport({ client, request: { model } });
 * useChat({ id, transport, messages: transport.messagesOf(id), resume: true });
 */
export class AntiphonChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** Tells the AI SDK that a reconnection sends a response from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #options: ChatTransportOptions;
  readonly #chats: KeptChats<Message>;

  constructor(options: ChatTransportOptions) {
    this.#options = options;
    this.#chats = new KeptChats(options.storage ?? pageStorage());
  }

  /** The messages of a chat when its latest response was requested. With `resume`, useChat adds that response. */
  messagesOf(chatId: string): Message[] {
    return [...(this.#chats.find(chatId)?.messages ?? [])];
  }

  /** Forgets a chat, so that the next one with this id starts empty. Its responses stay on the server. */
  forget(chatId: string): void {
    this.#chats.forget(chatId);
  }

  /**
   * Stops the latest response of a chat, for a button. The `stop` of useChat only leaves the stream, like closing the
   * page, and the response continues. Rejects with the errors of the client.
   */
  async cancel(chatId: string): Promise<void> {
    const chat = this.#chats.find(chatId);
    if (chat !== null) await this.#options.client.cancelResponse(chat.responseId);
  }

  /** Resolves once the server has accepted the request. Rejects with the errors of the client. */
  readonly sendMessages = async (options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> => {
    const { chatId, messages, abortSignal } = options;
    const stream = await this.#ask(options, requestInputOf(messages)).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      return this.#ask(options, wholeInputOf(messages)); // The response to continue was deleted, or has expired.
    });
    const last = messages.at(-1);
    const messageId = last?.role === "assistant" ? last.id : null;
    return this.#chunksOf(stream, abortSignal, {
      startChunks: (responseId) => {
        this.#chats.keep(chatId, { responseId, messageId: messageId ?? responseId, messages });
        return messageId === null ? [{ type: "start", messageId: responseId }] : [{ type: "start" }];
      },
    });
  };

  /** The latest response of the chat from its beginning; null if there is none to resume. */
  readonly reconnectToStream = async (options: ReconnectOptions): Promise<ReadableStream<UIMessageChunk> | null> => {
    const chat = this.#chats.find(options.chatId);
    if (chat === null || !(await this.#isWanted(chat))) return null;
    const { responseId, messageId, messages } = chat;
    const last = messages.at(-1);
    const earlier = last?.role === "assistant" && last.id === messageId ? replayParts(last.parts) : [];
    return this.#chunksOf(this.#eventsAfter(responseId, null, options.abortSignal), options.abortSignal, {
      startChunks: () => [{ type: "start", messageId }, ...metadataOf(last, messageId), ...earlier],
    });
  };

  #ask(
    { abortSignal, body, headers }: SendOptions<Message>,
    { previousResponseId, input }: RequestInput,
  ): Promise<Events> {
    const { client, request } = this.#options;
    return client.createResponse(
      {
        ...(typeof request === "function" ? request() : request),
        ...body,
        input,
        previous_response_id: previousResponseId,
        background: true,
        store: true,
        stream: true,
      },
      { headers: Object.fromEntries(new Headers(headers)), ...signalOf(abortSignal) },
    );
  }

  async #isWanted({ responseId }: KeptChat<Message>): Promise<boolean> {
    if (this.#options.resumes !== "running") return true;
    const { status } = await this.#options.client.getResponse(responseId);
    return status === "queued" || status === "in_progress";
  }

  #eventsAfter(responseId: string, number: number | null, signal: AbortSignal | undefined): Events {
    const { client } = this.#options;
    return (async function* () {
      const query = { dialect: "reference", ...(number === null ? {} : { starting_after: number }) } as const;
      yield* await client.streamResponseEvents(responseId, query, signalOf(signal));
    })();
  }

  /** The chunks of a response. The response continues without being read, so a slow page blocks nothing. */
  #chunksOf(
    events: Events,
    abortSignal: AbortSignal | undefined,
    { startChunks }: { readonly startChunks: (responseId: string) => UIMessageChunk[] },
  ): ReadableStream<UIMessageChunk> {
    const chunks = this.#follow(events, abortSignal, startChunks);
    return new ReadableStream({
      pull: async (controller) => {
        const { done, value } = await chunks.next();
        if (done === true) return controller.close();
        for (const chunk of value) controller.enqueue(chunk);
      },
      cancel: async () => void (await chunks.return()),
    });
  }

  async *#follow(
    events: Events,
    abortSignal: AbortSignal | undefined,
    startChunks: (responseId: string) => UIMessageChunk[],
  ): AsyncGenerator<UIMessageChunk[], void> {
    const maker = new ChunkMaker();
    try {
      for await (const event of this.#unbroken(events, abortSignal)) {
        if (event.type === "response.created") yield [...startChunks(event.response.id), { type: "start-step" }];
        const chunks = maker.take(event);
        if (chunks.length > 0) yield chunks;
      }
    } catch (error) {
      if (abortSignal?.aborted === true) return; // The page has left the stream, and the response continues.
      yield [...maker.close(), { type: "error", errorText: error instanceof Error ? error.message : "Failed." }];
    }
  }

  /** The events of a stream. If its connection breaks, they continue over another one, without gap or repetition. */
  async *#unbroken(first: Events, signal: AbortSignal | undefined): AsyncGenerator<ResponsesApi.AnyStreamEvent, void> {
    let events = first;
    let responseId: string | null = null;
    let number: number | null = null;
    for (let failures = 0; ; ) {
      try {
        for await (const event of events) {
          failures = 0;
          if (event.type === "response.created") responseId = event.response.id;
          number = event.sequence_number;
          yield event;
        }
        return;
      } catch (error) {
        if (!isPassing(error) || responseId === null || failures >= RECONNECTS_MAX) throw error;
        if (signal?.aborted === true) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_WAIT_MS * 2 ** failures));
      failures += 1;
      events = this.#eventsAfter(responseId, number, signal);
    }
  }
}

/** Whether the response that a request continues does not exist any more. */
function isGone(error: unknown): boolean {
  return error instanceof APIError && error.code === "previous_response_not_found";
}

/** Whether another attempt may succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof StreamBrokenError || error instanceof APIConnectionError) return true;
  return error instanceof APIError && error.status !== null && error.status >= 500;
}

function signalOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function metadataOf(last: UIMessage | undefined, messageId: string): UIMessageChunk[] {
  if (last?.id !== messageId || last.metadata === undefined) return [];
  return [{ type: "message-metadata", messageMetadata: last.metadata }];
}

function pageStorage(): ChatStorage {
  try {
    return globalThis.sessionStorage ?? memoryStorage();
  } catch {
    return memoryStorage(); // Pages may be forbidden to store anything.
  }
}
