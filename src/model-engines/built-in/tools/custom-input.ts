import { writePattern } from "../json/write-pattern.ts";
import { writeSentence } from "./lark-sentence.ts";
import type { OfferedCustomTool } from "./offered-tools.ts";

const FENCED = /```[\w-]*\n(.*?)```/s;

/**
 * Free text for a custom tool: the code block of the message, or all of it. With a grammar a short text that the
 * grammar allows.
 */
export function writeCustomInput(grammar: OfferedCustomTool["grammar"], text: string): string {
  const plain = FENCED.exec(text)?.[1]?.trimEnd() ?? text;
  if (grammar === null) return plain;
  const written = grammar.syntax === "regex" ? writePattern(grammar.definition) : writeSentence(grammar.definition);
  // A grammar beyond the engine's understanding gets the message, as a model without grammars would send.
  return written ?? plain;
}
