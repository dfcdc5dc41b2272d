/** A command was typed wrongly. The message names what is wrong, and the usage follows it. */
export class MisusedCommand extends Error {
  override readonly name = "MisusedCommand";

  constructor(problem: string, usage: string) {
    super(`${problem}\n\n${usage}`);
  }
}

/** What `parseArgs` of Node complains about, without its advice on how to pass such a word all the same. */
export function argumentFault(error: unknown): string {
  if (!(error instanceof Error)) return "The arguments cannot be read.";
  const [sentence = ""] = error.message.split(/[.\n]/, 1);
  return `${sentence}.`;
}
