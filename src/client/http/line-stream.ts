import type { DemoChatLine, SttServerMessage } from "../../../generated/local-stt/types.ts";
import type { TextCutter } from "./body-text.ts";
import type { CallWatch } from "./call-watch.ts";
import { APIConnectionError, InvalidReplyError } from "./errors.ts";
import type { StreamKind } from "./reply-stream.ts";

/** A line holds at most the words of a whole stream. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Says nothing. Node holds a request back until its body begins, and a caller may wait for hello before speaking. */
const BLANK_LINE = "\n";

type LineType = (SttServerMessage | DemoChatLine)["type"];

const LAST_TYPES: readonly LineType[] = ["stream.closed", "chat.done"];
const ERROR_TYPES: readonly LineType[] = ["error"];

/** The messages of stt-jsonl-v1, over either transport, and the lines of a chat. */
export const SPEECH_MESSAGES: StreamKind = { lastTypes: LAST_TYPES, errorTypes: ERROR_TYPES };

/** Cuts lines. Blank ones are none; a last one without a line end counts. */
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
      const unfinished = pieces.pop() ?? "";
      const lines = pieces.map(takeLine).filter(isLine);
      parts.push(unfinished);
      length += unfinished.length;
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
 * A request body of one line for each message, read no faster than it is sent. When the call is over the messages are
 * cancelled.
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
        watch.end(error); // The caller's own error is what the call rejects with.
      }
    },
    cancel: () => cancelIterator(iterator),
  });
}

/** Does not wait: a source that never speaks again would never answer. */
export function cancelIterator(iterator: AsyncIterator<unknown>): void {
  iterator.return?.().catch(() => undefined);
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
