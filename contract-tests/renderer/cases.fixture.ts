import { playOfStream } from "../recorded-parity/plays.fixture.ts";
import { firstSnapshot, type RecordedStream, readStreams } from "../recorded-parity/recordings.fixture.ts";
import { isRecord } from "../records.fixture.ts";
import type { LeftOut } from "./masks.fixture.ts";
import type { WrittenResponse } from "./written-response.fixture.ts";
import { callBlock, messageBlock, reasoningBlock, refusalBlock, writeStream } from "./written-streams.fixture.ts";

/** A question typed into the page, and the reference's streams. */
export interface RendererCase {
  readonly name: string;
  /** One stream for each request of the page. */
  readonly streams: readonly RecordedStream[];
  readonly hasTool: boolean;
  readonly isStateless: boolean;
  readonly left: readonly LeftOut[];
}

const LEFT_OUT: readonly LeftOut[] = [
  { what: "response.access_programs", reason: "differs by account" },
  { what: "response.prompt_cache_retention", reason: "differs by model, and by decision" },
  { what: "response.reasoning.context", reason: "models differ in what they echo" },
  { what: "response.reasoning.mode", reason: "models differ in what they echo" },
  { what: "response.top_p", reason: "the default is the model's, and the scenario's has none" },
  {
    what: "response.function_call_arguments.done:name",
    reason: "the reference's published schema requires it, its streams lack it, and no reader minds it",
  },
  { what: "response.refusal.delta:obfuscation", reason: "nobody recorded whether the reference pads refusals" },
];

const LATER = "newer than the recordings; the reference sends it by now";
const NOT_RECORDED: readonly LeftOut[] = [
  { what: "response.completed_at", reason: LATER },
  { what: "response.frequency_penalty", reason: LATER },
  { what: "response.moderation", reason: LATER },
  { what: "response.presence_penalty", reason: LATER },
  { what: "response.tool_usage", reason: LATER },
];

/** The reference's streams, written by hand from its known wire format. These cases always run. */
export const WRITTEN_CASES: readonly RendererCase[] = [
  written("text", {}, (response) => [
    writeStream(
      response,
      [
        messageBlock("msg_a", ["Nice", " is **warm**", " — 18 °C", " (see", " the page", ")."], {
          citation: {
            after: 5,
            annotation: {
              type: "url_citation",
              start_index: 26,
              end_index: 34,
              title: "Page",
              url: "https://example.com/nice",
            },
          },
        }),
      ],
      { status: "completed", tokens: { input: 9, output: 12, reasoning: 0 } },
    ),
  ]),
  written("reasoning", { isReasoning: true }, (response) => [
    writeStream(
      response,
      [
        reasoningBlock("rs_a", [
          ["**First", " the air**", "\n\nThen more."],
          ["**The sea", " next**"],
        ]),
        messageBlock("msg_a", ["Both", " are warm."]),
      ],
      { status: "completed", tokens: { input: 20, output: 40, reasoning: 32 } },
    ),
  ]),
  written("tool call with result", { hasTool: true }, (response) => [
    writeStream(response, [callBlock("fc_a", "calculator", ['{"a"', ":6,", '"b":7', ',"op":"mul', 'tiply"}'])], {
      status: "completed",
      tokens: { input: 60, output: 15, reasoning: 0 },
    }),
    writeStream({ ...response, id: "resp_b" }, [messageBlock("msg_b", ["It", " is **", "42", "**."])], {
      status: "completed",
      tokens: { input: 90, output: 6, reasoning: 0 },
    }),
  ]),
  written("refusal", {}, (response) => [
    writeStream(response, [refusalBlock("msg_a", ["I'm sorry", ", but I can't", " help with that."])], {
      status: "completed",
      tokens: { input: 9, output: 9, reasoning: 0 },
    }),
  ]),
  written("failure", {}, (response) => [
    writeStream(response, [], {
      status: "failed",
      error: { code: "server_error", message: "The server had an error while processing your request." },
    }),
  ]),
  written("incomplete", {}, (response) => [
    writeStream(response, [messageBlock("msg_a", ["Once", " upon", " a"], { status: "incomplete" })], {
      status: "incomplete",
      tokens: { input: 9, output: 16, reasoning: 0 },
    }),
  ]),
];

interface Recorded {
  readonly name: string;
  /** The prefix of the recording's name. `from` is the number of its streams to skip. */
  readonly file: string;
  readonly from: number;
  readonly isStateless: boolean;
}

/** Recorded streams of the reference. */
export const RECORDED_CASES: readonly Recorded[] = [
  { name: "recorded text", file: "openai-reasoning-encrypted-content", from: 3, isStateless: true },
  {
    name: "recorded reasoning, and tool calls",
    file: "openai-reasoning-encrypted-content",
    from: 0,
    isStateless: true,
  },
  { name: "recorded failure", file: "openai-error", from: 0, isStateless: false },
];

export function readRecordedCase(folder: string, { name, file, from, isStateless }: Recorded): RendererCase {
  const streams = readStreams(folder)
    .filter((stream) => stream.name.startsWith(file))
    .slice(from);
  const [first] = streams;
  if (first === undefined) throw new Error(`REFERENCE_RECORDINGS holds no stream ${file} #${from + 1}`);
  const hasTool = (firstSnapshot(first).tools ?? []).length > 0;
  const newer = streams.map((stream) => ({ ...stream, events: stream.events.map(withReasoningContent) }));
  return { name, streams: newer, hasTool, isStateless, left: [...LEFT_OUT, ...NOT_RECORDED] };
}

/** Adds the `content` list of reasoning items, which is newer than the recordings. */
function withReasoningContent<Value>(value: Value): Value;
function withReasoningContent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReasoningContent);
  if (!isRecord(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withReasoningContent(member)]),
  );
  return value["type"] === "reasoning" && "summary" in value ? { content: [], ...members } : members;
}

export function promptOf({ name }: RendererCase): string {
  return `Show «${name}», please.`;
}

export function modelOf({ streams: [first] }: RendererCase): string {
  if (first === undefined) throw new Error("a case has no stream");
  return firstSnapshot(first).model;
}

/**
 * Returns a scenario file that makes our engine send the reference's text. It has one scenario per stream. Later turns
 * come first, because the engine plays the first scenario that matches.
 */
export function scenarioOfCases(cases: readonly RendererCase[]): string {
  return JSON.stringify({
    models: [...new Set(cases.map(modelOf))],
    fallback: "error",
    scenarios: cases.flatMap((one) =>
      one.streams
        .map((stream, turn) => ({
          when: { input_contains: promptOf(one), ...(turn === 0 ? {} : { tool_outputs: turn }) },
          events: playOfStream(stream).turns.flat(),
        }))
        .toReversed(),
    ),
  });
}

type Options = Partial<Pick<WrittenResponse, "isReasoning" | "hasTool">>;

function written(
  name: string,
  { isReasoning = false, hasTool = false }: Options,
  write: (response: WrittenResponse) => readonly RecordedStream["events"][],
): RendererCase {
  const model = isReasoning ? "gpt-5-mini-2025-08-07" : "gpt-4.1-mini-2025-04-14";
  const streams = write({ id: "resp_a", model, isReasoning, store: !isReasoning, hasTool });
  return {
    name,
    streams: streams.map((events, turn) => ({ name: `${name} #${turn + 1}`, events })),
    hasTool,
    isStateless: isReasoning,
    left: LEFT_OUT,
  };
}
