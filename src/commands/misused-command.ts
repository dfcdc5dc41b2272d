import { type ParseArgsConfig, parseArgs } from "node:util";

/** A command was typed wrongly. The message names the mistake, and the usage follows it. */
export class MisusedCommand extends Error {
  override readonly name = "MisusedCommand";

  constructor(problem: string, usage: string) {
    super(`${problem}\n\n${usage}`);
  }
}

/** Reads options and operands. Throws mistakes as the error that `misused` creates. */
export function readCommandArguments<Options extends NonNullable<ParseArgsConfig["options"]>>(
  argv: readonly string[],
  options: Options,
  misuse: (problem: string) => Error,
) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw misuse(argumentFault(error));
  }
}

/** The complaint of Node's `parseArgs`, without its advice on how to pass the word anyway. */
export function argumentFault(error: unknown): string {
  if (!(error instanceof Error)) return "The arguments cannot be read.";
  const [sentence = ""] = error.message.split(/[.\n]/, 1);
  return `${sentence}.`;
}
