import type { WebSocketErrorFrame } from "@antiphon/contracts/responses-api/types.ts";
import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import { PACTS_DIR, type Parties } from "../pact-files.fixture.ts";
import { isRecord } from "../records.fixture.ts";
import { shapeOf } from "../shape.fixture.ts";
import type { ExampleEvent } from "./example-events.fixture.ts";
import type { FrameExample, SteeringExample } from "./socket-frames.fixture.ts";
import { type AnyExample, nameOfEvent } from "./stream-situations.fixture.ts";

const { equal, isMatcher, like, number, regex, string } = MatchersV3;

/** The provider of events over SSE. */
export const SSE_PROVIDER = "responses-api-events";
/** The provider of WebSocket mode. */
export const SOCKET_PROVIDER = "responses-api-websocket";
/** The consumers of events over SSE. */
export const SSE_READERS: readonly Parties[] = [
  { consumer: "openai-sdk", provider: SSE_PROVIDER },
  { consumer: "antiphon-client", provider: SSE_PROVIDER },
];
/** The consumers of WebSocket mode. */
export const SOCKET_TALKERS: readonly Parties[] = [
  { consumer: "openai-sdk", provider: SOCKET_PROVIDER },
  { consumer: "antiphon-client", provider: SOCKET_PROVIDER },
];

/** Free texts of tools. `shapeOf` knows the other free texts. */
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
/** Objects in which a tool describes itself. */
const TOOL_OBJECTS = ["input_schema", "annotations"];
/** Members that are newer than the recordings. */
const LEFT_OUT = ["environment"];

/** Checks that `read` reads the example, and writes its shape into the pact. */
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
 * Returns the shape of an event. Any error matches. The `name` of finished arguments is optional, because the reference
 * omits it against its own contract.
 */
export function shapeOfEvent(event: AnyExample): unknown {
  const { name: _, ...members } = { name: "", ...event };
  const error = event.type === "error" ? { error: like(event.error) } : {};
  const code = event.type === "response.error" ? { code: string("server_error") } : {};
  const sound = isSound(event) ? { delta: regex(BASE64, event.delta) } : {};
  return shapeOf(loosened({ ...members, ...error, ...code, ...sound, sequence_number: 0 }));
}

/** Returns the shape of the last frame of a turn. `message` is the pattern of an error's message. */
export function shapeOfReply(reply: FrameExample["reply"], message = "^.+$"): unknown {
  if (isSteering(reply)) return shapeOfSteering(reply, message);
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

function shapeOfSteering(event: SteeringExample, message: string): unknown {
  const error = "error" in event ? { error: { ...event.error, message: regex(message, event.error.message) } } : {};
  return shapeOf(loosened({ ...event, ...error, sequence_number: 0 }));
}

function isSteering(reply: FrameExample["reply"]): reply is SteeringExample {
  return reply.type.startsWith("response.steer.");
}

function isErrorFrame(reply: ExampleEvent | WebSocketErrorFrame): reply is WebSocketErrorFrame {
  return "status" in reply;
}

function isSound(event: AnyExample): event is AnyExample & { readonly delta: string } {
  return event.type === "response.audio.delta" || event.type === "response.output_audio.delta";
}

/** The message's name in the pact, such as "response.output_item.added of message". */
export function nameOfExample(event: AnyExample): string {
  return isSecond(event) ? `${nameOfEvent(event)}, the second` : nameOfEvent(event);
}

function isSecond(event: AnyExample): boolean {
  return "output_index" in event && event.output_index === 1;
}

/** Puts matchers in place of values that a tool, a model or a caller chooses. */
function loosened(value: unknown, member = ""): unknown {
  if (isMatcher(value)) return value;
  if (Array.isArray(value)) return value.map((element) => loosened(element, member));
  if (member === "stream_id") return equal(value);
  if (typeof value === "number" && member === "status") return equal(value);
  if (typeof value === "number" && member === "logprob") return number(value);
  if (typeof value === "string") return TOOL_TEXTS.includes(member) && value !== "" ? string(value) : value;
  if (!isRecord(value)) return value;
  if (TOOL_OBJECTS.includes(member)) return like({});
  const isError = "message" in value; // In an error the contract fixes `code`.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !LEFT_OUT.includes(name))
      .map(([name, inner]) => [name, loosened(inner, isError && name === "code" ? "" : name)]),
  );
}
