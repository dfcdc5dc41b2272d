import { type ChatProvider, ProviderError } from "./chat-provider.ts";
import { isRendering } from "./is-rendering.ts";
import { promptFor, type Wish } from "./prompt.ts";

/**
 * Text after formatting. `formatted` false: it is the raw text, and `warning` a sentence on what went wrong; null:
 * nothing did.
 */
export interface FormattedText {
  readonly text: string;
  readonly formatted: boolean;
  readonly warning: string | null;
}

/** Brings raw words into readable form. */
export interface TextFormatter {
  /** Never fails but by the signal: where nobody can format, the raw text comes back. */
  format(text: string, wish: Wish, signal: AbortSignal): Promise<FormattedText>;
}

/** Who formats now; null: nobody, because formatting is off or not set up. */
export type FindProvider = (signal: AbortSignal) => Promise<ChatProvider | null>;

/** With a wish a text may grow, but not without end. */
const GROWTH_MAX = 8;
const GROWTH_CHARACTERS_MAX = 4000;

/** Formats by asking a provider, and keeps its answer only if it is what was asked for. */
export function createTextFormatter(findProvider: FindProvider): TextFormatter {
  return {
    async format(text, wish, signal) {
      const raw = (warning: string | null): FormattedText => ({ text, formatted: false, warning });
      if (text.trim() === "") return raw("There is no text to format.");
      try {
        const provider = await findProvider(signal);
        if (provider === null) return raw(null);
        const answer = await ask(provider, text, wish, signal);
        return (await isFit(text, answer, wish))
          ? { text: answer.text, formatted: true, warning: null }
          : raw("The formatting provider answered with something else than the text.");
      } catch (error) {
        if (error instanceof ProviderError) return raw(`The text was not formatted: ${error.message}.`);
        throw error;
      }
    },
  };
}

interface Answer {
  readonly text: string;
  /** Whether it stood between the marks. */
  readonly isMarked: boolean;
}

async function ask(provider: ChatProvider, text: string, wish: Wish, signal: AbortSignal): Promise<Answer> {
  const { messages, mark } = promptFor(text, wish);
  let answer = "";
  for await (const piece of provider.answer(messages, signal)) if (piece.type === "text") answer += piece.text;
  return withoutDress(answer, mark);
}

/** Some models think aloud first, or repeat the marks. */
function withoutDress(answer: string, mark: string): Answer {
  const [start, end] = [`<${mark}>`, `</${mark}>`];
  const said = answer.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  return {
    text: said.replaceAll(start, "").replaceAll(end, "").trim(),
    isMarked: said.startsWith(start) && said.endsWith(end),
  };
}

async function isFit(original: string, { text, isMarked }: Answer, { assistive, instruction }: Wish): Promise<boolean> {
  if (text === "") return false;
  if (assistive) return true;
  if (await isRendering(original, text)) return true;
  const isWished = instruction.trim() !== "" && isMarked;
  return isWished && text.length <= original.length * GROWTH_MAX + GROWTH_CHARACTERS_MAX;
}
