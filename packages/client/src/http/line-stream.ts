import type { DemoChatLine, SttServerMessage } from "@antiphon/contracts/local-stt/types.ts";
import type { TextCutter } from "./body-text.ts";
import type { CallWatch } from "./call-watch.ts";
import { APIConnectionError, InvalidReplyError } from "./errors.ts";
import type { StreamKind } from "./reply-stream.ts";

/** Characters of one line; a line holds at most the transcript of a whole stream. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

/**
 * Sent first. Node sends a request only when its body begins, and the caller may wait for `hello` before its first
 * message.
 */
const BLANK_LINE = "\n";

type LineType = (SttServerMessage | DemoChatLine)["type"];

const LAST_TYPES: readonly LineType[] = ["stream.closed", "chat.done"];
const ERROR_TYPES: readonly LineType[] = ["error"];

/** The messages of stt-jsonl-v1 over both transports, and the lines of the demo chat. */
export const SPEECH_MESSAGES: StreamKind = { lastTypes: LAST_TYPES, errorTypes: ERROR_TYPES };

/** Cuts lines. Blank lines are skipped; a last line without a line end counts. */
export function createLineCutter(): TextCutter {
  let parts: string[] = [];
  let length = 0;
  const takeLine = (end: string): string => {
    const line = [...parts, end].join("");
    parts = [];
    length = 0;
    return line;
  };
  return {
    cut: (text) => {
      const pieces = text.split("\n");
      const rest = pieces.pop() ?? "";
      const lines = pieces.map(takeLine).filter(isLine);
      parts.push(rest);
      length += rest.length;
      if (length > LINE_CHARACTERS_MAX)
        throw new InvalidReplyError(`A line has more than ${LINE_CHARACTERS_MAX} characters.`);
      return lines;
    },
    rest: () => [takeLine("")].filter(isLine),
  };
}

function isLine(text: string): boolean {
  return text.trim() !== "";
}

/**
 * A request body with one line for each message. Messages are read no faster than they are sent; `return` of their
 * source is called when the call is over.
 */
export function writeLines(messages: AsyncIterable<unknown>, watch: CallWatch): ReadableStream<Uint8Array> {
  const iterator = messages[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let isWritten = false;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(encoder.encode(BLANK_LINE));
      watch.whenOver(() => {
        if (!isWritten) controller.error(new APIConnectionError("The server has ended the stream."));
        cancelIterator(iterator);
      });
    },
    pull: async (controller) => {
      try {
        const { done, value } = await iterator.next();
        isWritten = done === true;
        if (isWritten) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      } catch (error) {
        watch.end(error); // The call rejects with the error of the caller's source.
      }
    },
    cancel: () => cancelIterator(iterator),
  });
}

/** Does not wait for `return`, because the source may be waiting forever. */
export function cancelIterator(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
