import { ApiError } from "@antiphon/base/api-error.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";

const CAUSES_MAX = 4;
const MESSAGE_CHARACTERS_MAX = 1000;
const HIDDEN = "[…]";

/** Text that may repeat client input: inlined files, keys, any long word. */
const NOT_FOR_LOGS: readonly RegExp[] = [
  /data:[\w/+.-]*[;,][^\s"']*/gi,
  /\bBearer\s+\S+/gi,
  /\bsk-[\w-]{4,}/g,
  /[\w+/=-]{64,}/g,
];

/**
 * The log form of an error, with harmless members only. Leaves out other members of errors, such as request bytes;
 * texts of other servers (`quoted`), which may repeat client input; and messages of parsers, which repeat their input.
 * Faults of callers and model servers have no stack, which would not explain them.
 */
export function describeError(error: unknown, secrets: readonly string[]): object {
  return describe(error, secrets, { depth: 0, isOthers: false });
}

interface Place {
  /** The number of errors that it causes. */
  readonly depth: number;
  /** Whether it causes a model server's fault. */
  readonly isOthers: boolean;
}

function describe(error: unknown, secrets: readonly string[], { depth, isOthers }: Place): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { code, status, syscall, quoted } = membersOf(error);
  return {
    type: error.name,
    message:
      error instanceof SyntaxError
        ? HIDDEN
        : harmless(error.message, typeof quoted === "string" ? [quoted, ...secrets] : secrets),
    ...(isShort(code) ? { code } : {}),
    ...(typeof status === "number" ? { status } : {}),
    ...(isShort(syscall) ? { syscall } : {}),
    ...(isOthers || error instanceof ModelError || error instanceof ApiError ? {} : { stack: framesOf(error) }),
    ...(error.cause === undefined || depth >= CAUSES_MAX
      ? {}
      : {
          cause: describe(error.cause, secrets, {
            depth: depth + 1,
            isOthers: isOthers || error instanceof ModelError,
          }),
        }),
  };
}

function membersOf(error: Error): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(error));
}

function harmless(text: string, hiddenTexts: readonly string[]): string {
  const withoutHidden = hiddenTexts.reduce(
    (result, part) => (part === "" ? result : result.replaceAll(part, HIDDEN)),
    text,
  );
  const result = NOT_FOR_LOGS.reduce((rest, pattern) => rest.replace(pattern, HIDDEN), withoutHidden);
  return result.slice(0, MESSAGE_CHARACTERS_MAX);
}

/** The stack without the message at its start. */
function framesOf({ stack = "" }: Error): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}

function isShort(value: unknown): value is string {
  return typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
}
