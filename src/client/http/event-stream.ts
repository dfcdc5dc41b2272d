import { createParser } from "eventsource-parser";
import type { DialectStreamEvent, ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import type { TextCutter } from "./body-text.ts";
import { InvalidReplyError } from "./errors.ts";
import type { StreamKind } from "./reply-stream.ts";

/** The last event holds a whole response, images included. */
const EVENT_CHARACTERS_MAX = 64 * 1024 * 1024;

/** Some servers end their streams with this, which is no event. */
const END_MARK = "[DONE]";

type EventType = ResponseStreamEvent["type"] | DialectStreamEvent["type"];
const LAST_TYPES: readonly EventType[] = ["response.completed", "response.incomplete", "response.failed"];
const ERROR_TYPES: readonly EventType[] = ["error", "response.error"];

/**
 * An error is thrown, as the official SDK does; `response.failed` without an error before it is an event like others.
 */
export const RESPONSE_EVENTS: StreamKind = { lastTypes: LAST_TYPES, errorTypes: ERROR_TYPES };

/** Cuts server-sent events. What follows the last blank line was never sent whole. */
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
