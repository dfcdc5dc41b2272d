import type { DialectStreamEvent, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { createParser } from "eventsource-parser";
import type { TextCutter } from "./body-text.ts";
import { InvalidReplyError } from "./errors.ts";
import type { StreamKind } from "./reply-stream.ts";

/** Characters of one event; the last event holds the whole response, including images. */
const EVENT_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Some servers end their streams with this text, which is not an event. */
const END_MARK = "[DONE]";

type EventType = ResponseStreamEvent["type"] | DialectStreamEvent["type"];
const LAST_TYPES: readonly EventType[] = ["response.completed", "response.incomplete", "response.failed"];
const ERROR_TYPES: readonly EventType[] = ["error", "response.error"];

/**
 * Error events are thrown, as in the official SDK. A `response.failed` that follows no error event is yielded like any
 * event.
 */
export const RESPONSE_EVENTS: StreamKind = { lastTypes: LAST_TYPES, errorTypes: ERROR_TYPES };

/** Cuts server-sent events. Text after the last blank line is an incomplete event and is dropped. */
export function createEventCutter(): TextCutter {
  let cut: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== END_MARK) cut.push(data);
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") {
        throw new InvalidReplyError(`An event has more than ${EVENT_CHARACTERS_MAX} characters.`);
      }
    },
    maxBufferSize: EVENT_CHARACTERS_MAX,
  });
  return {
    cut: (text) => {
      cut = [];
      parser.feed(text);
      return cut;
    },
    rest: () => [],
  };
}
