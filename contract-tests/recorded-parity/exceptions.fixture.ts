import type { Difference } from "./differences.fixture.ts";

interface Exception {
  readonly kind: Difference["kind"];
  /** The last members of the path; `*` matches any path. */
  readonly path: string;
  /** A prefix of the recording's name. Any recording by default. */
  readonly recording?: string;
  readonly reason: string;
}

const LATER = "newer than the recording; the reference sends it by now";
const SHORTENED = "who published this recording left most of its snapshots, deltas and items out";
const NEW_EACH_TIME = "made anew for each response";

/** All allowed differences. The test fails if no recording needs an entry. */
export const EXCEPTIONS: readonly Exception[] = [
  { kind: "value", path: "id", reason: NEW_EACH_TIME },
  { kind: "value", path: "item_id", reason: NEW_EACH_TIME },
  { kind: "value", path: "created_at", reason: "the clock" },
  { kind: "value", path: "encrypted_content", reason: "sealed anew each time, by another key" },
  { kind: "value", path: "obfuscation", reason: "random letters" },
  { kind: "value", path: "response.top_p", reason: "the default is the model's, and the scenario's has none" },

  { kind: "only-ours", path: "response.access_programs", reason: LATER },
  { kind: "only-ours", path: "response.billing", reason: LATER },
  { kind: "only-ours", path: "response.completed_at", reason: LATER },
  { kind: "only-ours", path: "response.frequency_penalty", reason: LATER },
  { kind: "only-ours", path: "response.moderation", reason: LATER },
  { kind: "only-ours", path: "response.presence_penalty", reason: LATER },
  { kind: "only-ours", path: "response.prompt_cache_retention", reason: LATER },
  { kind: "only-ours", path: "response.reasoning.context", reason: LATER },
  { kind: "only-ours", path: "response.tool_usage", reason: LATER },
  { kind: "only-ours", path: "response.output_item.added:item.content", reason: LATER },
  { kind: "only-ours", path: "response.output_item.done:item.content", reason: LATER },
  { kind: "only-ours", path: "response.output[].content", reason: LATER },
  { kind: "only-ours", path: "response.tools[].output_schema", reason: LATER },
  { kind: "only-ours", path: "action.queries", reason: LATER },
  { kind: "only-ours", path: "response.output[].environment", reason: LATER },
  { kind: "only-ours", path: "item.environment", reason: LATER },
  { kind: "only-ours", path: "usage.input_tokens_details.cache_write_tokens", reason: LATER },
  {
    kind: "only-ours",
    path: "response.function_call_arguments.done:name",
    reason: "the reference's published schema requires it, its streams lack it, and no reader minds it",
  },

  {
    kind: "only-ours",
    path: "action.sources[].title",
    reason: "an extension: clients that list sources have a name to show",
  },

  { kind: "only-ours", path: "*", recording: "openai-phase", reason: SHORTENED },
  { kind: "value", path: "text", recording: "openai-phase", reason: SHORTENED },
  { kind: "value", path: "sequence_number", recording: "openai-phase", reason: SHORTENED },
  { kind: "value", path: "output_index", recording: "openai-phase", reason: SHORTENED },
];

/** Returns the first exception that matches, or undefined. */
export function exceptionFor(recording: string, { kind, path }: Difference): Exception | undefined {
  return EXCEPTIONS.find(
    (exception) =>
      exception.kind === kind &&
      recording.startsWith(exception.recording ?? "") &&
      (exception.path === "*" || isEndOf(path, exception.path)),
  );
}

/** Tools that this server lacks, so their recordings are not compared. A test fails once the server has one. */
export const NOT_YET_COMPARABLE: Readonly<Record<string, string>> = {};

function isEndOf(path: string, end: string): boolean {
  return path === end || path.endsWith(`.${end}`) || path.endsWith(`:${end}`);
}
