import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import type { WebSocketErrorFrame } from "../../generated/responses-api/types.ts";
import { PACTS_DIR, type Parties } from "../pact-files.fixture.ts";
import { isRecord } from "../records.fixture.ts";
import { shapeOf } from "../shape.fixture.ts";
import type { ExampleEvent } from "./example-events.fixture.ts";
import { type AnyExample, nameOfEvent } from "./stream-situations.fixture.ts";

const { equal, isMatcher, like, number, regex, string } = MatchersV3;

/** Who reads the events of Server-Sent Events. */
export const SSE_READERS: readonly Parties[] = [
  { consumer: "openai-sdk", provider: "responses-api-events" },
  { consumer: "antiphon-client", provider: "responses-api-events" },
];
/** Who talks over WebSocket. */
export const SOCKET_TALKERS: readonly Parties[] = [
  { consumer: "openai-sdk", provider: "responses-api-websocket" },
  { consumer: "antiphon-client", provider: "responses-api-websocket" },
];

/** Texts of tools; the rest of the free ones is `shapeOf`'s. */
const TOOL_TEXTS = [
  "background",
  "code",
  "command",
  "commands",
  "description",
  "diff",
  "encrypted_content",
  "filename",
  "logs",
  "output",
  "output_format",
  "partial_image_b64",
  "path",
  "quality",
  "queries",
  "query",
  "result",
  "revised_prompt",
  "server_label",
  "size",
  "stderr",
  "stdout",
  "token",
];
const BASE64 = "^[A-Za-z0-9+/]+={0,2}$";
/** What a tool says of itself. */
const TOOL_OBJECTS = ["input_schema", "annotations"];
/** Newer than the recordings. */
const LEFT_OUT = ["environment"];

/** Has `read` read the example, and writes its shape into the pact. */
export async function checkMessage(
  parties: Parties,
  { state, name, shape }: { readonly state: string; readonly name: string; readonly shape: unknown },
  read: (content: unknown) => Promise<void>,
): Promise<void> {
  await new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" })
    .addAsynchronousInteraction()
    .given(state)
    .expectsToReceive(name, (builder) => builder.withJSONContent(shape))
    .executeTest(async ({ contents }) => read(contents.content));
}

/**
 * What an event of this kind must look like. Any error will do. The reference sends no name with finished arguments,
 * though its contract says so.
 */
export function shapeOfEvent(event: AnyExample): unknown {
  const { name: _, ...members } = { name: "", ...event };
  const error = event.type === "error" ? { error: like(event.error) } : {};
  const code = event.type === "response.error" ? { code: string("server_error") } : {};
  const sound = isSound(event) ? { delta: regex(BASE64, event.delta) } : {};
  return shapeOf(loosened({ ...members, ...error, ...code, ...sound, sequence_number: 0 }));
}

/** What ends a turn. `message` is the pattern of that of an error. */
export function shapeOfReply(reply: ExampleEvent | WebSocketErrorFrame, message = "^.+$"): unknown {
  if (!isErrorFrame(reply)) return shapeOfEvent(reply);
  const { headers, ...error } = reply.error;
  const hints = Object.entries(headers ?? {}).map(([name, value]) => [name, regex("^[0-9]+[0-9a-z.]*$", value)]);
  return shapeOf(
    loosened({
      ...reply,
      error: {
        ...error,
        message: regex(message, error.message),
        ...(headers === undefined ? {} : { headers: Object.fromEntries(hints) }),
      },
    }),
  );
}

function isErrorFrame(reply: ExampleEvent | WebSocketErrorFrame): reply is WebSocketErrorFrame {
  return "status" in reply;
}

function isSound(event: AnyExample): event is AnyExample & { readonly delta: string } {
  return event.type === "response.audio.delta" || event.type === "response.output_audio.delta";
}

/** The name that both ends use: "response.output_item.added of message". */
export function nameOfExample(event: AnyExample): string {
  return isSecond(event) ? `${nameOfEvent(event)}, the second` : nameOfEvent(event);
}

function isSecond(event: AnyExample): boolean {
  return "output_index" in event && event.output_index === 1;
}

/** Puts matchers where a tool, a model or a caller chooses. */
function loosened(value: unknown, member = ""): unknown {
  if (isMatcher(value)) return value;
  if (Array.isArray(value)) return value.map((element) => loosened(element, member));
  if (member === "stream_id") return equal(value);
  if (typeof value === "number" && member === "status") return equal(value);
  if (typeof value === "number" && member === "logprob") return number(value);
  if (typeof value === "string") return TOOL_TEXTS.includes(member) && value !== "" ? string(value) : value;
  if (!isRecord(value)) return value;
  if (TOOL_OBJECTS.includes(member)) return like({});
  const isError = "message" in value; // There `code` is a word of the contract.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !LEFT_OUT.includes(name))
      .map(([name, inner]) => [name, loosened(inner, isError && name === "code" ? "" : name)]),
  );
}
