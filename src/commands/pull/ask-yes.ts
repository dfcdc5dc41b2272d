import { createInterface } from "node:readline/promises";
import type { ProgressOutput } from "../packages/progress-line.ts";

/** Where answers are typed. */
export type QuestionInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Asks a person. False without a terminal. */
export async function askYes(
  question: string,
  { input, progress }: { readonly input: QuestionInput; readonly progress: ProgressOutput },
  signal: AbortSignal,
): Promise<boolean> {
  if (input.isTTY !== true) return false;
  const asking = createInterface({ input });
  progress.write(`${question} [y/N] `);
  try {
    const answer = await asking.question("", { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}
