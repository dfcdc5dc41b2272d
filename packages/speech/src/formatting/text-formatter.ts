import { type ChatProvider, ProviderError } from "./chat-provider.ts";
import { isRendering } from "./is-rendering.ts";
import { type FormatRequest, promptFor } from "./prompt.ts";

/**
 * Text after formatting. If `formatted` is false, `text` is the raw text, and `warning` is a sentence with the reason;
 * it is null if formatting is not configured.
 */
export interface FormattedText {
  readonly text: string;
  readonly formatted: boolean;
  readonly warning: string | null;
}

/** Formats a raw transcript for readers. */
export interface TextFormatter {
  /** Returns the raw text if formatting fails. Rejects only with the signal's reason. */
  format(text: string, request: FormatRequest, signal: AbortSignal): Promise<FormattedText>;
}

/** Finds the formatting provider; null if formatting is off or not configured. */
export type FindProvider = (signal: AbortSignal) => Promise<ChatProvider | null>;

/** With an instruction, a text may be this many times as long as the original, plus this many characters. */
const GROWTH_MAX = 8;
const GROWTH_CHARACTERS_MAX = 4000;

/** Formats with a provider. Drops an answer that is not the formatted text. */
export function createTextFormatter(findProvider: FindProvider): TextFormatter {
  return {
    async format(text, request, signal) {
      const raw = (warning: string | null): FormattedText => ({ text, formatted: false, warning });
      if (text.trim() === "") return raw("There is no text to format.");
      try {
        const provider = await findProvider(signal);
        if (provider === null) return raw(null);
        const answer = await ask(provider, text, request, signal);
        return (await isAcceptable(text, answer, request))
          ? { text: answer.text, formatted: true, warning: null }
          : raw("The formatting provider answered with something other than the text.");
      } catch (error) {
        if (error instanceof ProviderError) return raw(`The text was not formatted: ${error.message}.`);
        throw error;
      }
    },
  };
}

interface Answer {
  readonly text: string;
  /** Whether the answer was between the marks. */
  readonly isMarked: boolean;
}

async function ask(provider: ChatProvider, text: string, request: FormatRequest, signal: AbortSignal): Promise<Answer> {
  const { messages, mark } = promptFor(text, request);
  let answer = "";
  for await (const piece of provider.answer(messages, signal)) if (piece.type === "text") answer += piece.text;
  return unwrapAnswer(answer, mark);
}

/** Removes the thinking text and the marks that some models add. */
function unwrapAnswer(answer: string, mark: string): Answer {
  const start = `<${mark}>`;
  const end = `</${mark}>`;
  const text = answer.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  return {
    text: text.replaceAll(start, "").replaceAll(end, "").trim(),
    isMarked: text.startsWith(start) && text.endsWith(end),
  };
}

async function isAcceptable(
  original: string,
  { text, isMarked }: Answer,
  { assistive, instruction }: FormatRequest,
): Promise<boolean> {
  if (text === "") return false;
  if (assistive) return true;
  if (await isRendering(original, text)) return true;
  const followsInstruction = instruction.trim() !== "" && isMarked;
  return followsInstruction && text.length <= original.length * GROWTH_MAX + GROWTH_CHARACTERS_MAX;
}
