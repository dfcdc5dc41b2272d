import type { JinjaModule } from "../engine-api.ts";
import { arrangeTurn, withoutSystemRole, withUserFirst } from "./arrange-turn.ts";
import { type ChatTurn, type PromptPart, type TurnMessage, templateText, words } from "./chat-turn.ts";

/** Stand for the texts while a template is rendered. They are of a range that no text of the template uses. */
const OPEN = "\u{F0000}";
const CLOSE = "\u{F0001}";
/** A placeholder with the blanks around it. A template that trims its texts takes them away. */
const PLACEHOLDER = new RegExp(`( ?)${OPEN}(\\d+)${CLOSE}( ?)`, "u");

/** A template cannot be used. The message is the end of a sentence about it. */
export class TemplateUnusable extends Error {
  override readonly name = "TemplateUnusable";
}

export interface TemplateTokens {
  readonly bosToken: string;
  readonly eosToken: string;
}

/**
 * Renders the chat template of a model. Texts of people never pass through it: placeholders do, and the texts come in
 * their place, so that no marker in them is ever read as one.
 */
export class ChatTemplate {
  readonly #template: InstanceType<JinjaModule["Template"]>;
  readonly #tokens: TemplateTokens;

  /** Throws `TemplateUnusable` if it is no template or cannot render the simplest conversation. */
  constructor(jinja: JinjaModule, source: string, tokens: TemplateTokens) {
    this.#tokens = tokens;
    try {
      this.#template = new jinja.Template(source);
    } catch (error) {
      throw new TemplateUnusable(`cannot be read: ${messageOf(error)}`, { cause: error });
    }
    this.promptParts({
      messages: [{ role: "user", parts: [words("Hello")] }],
      functions: [],
      choice: { type: "none" },
      format: { type: "text" },
      beginning: "",
    });
  }

  /** The prompt of a turn, up to where the answer begins or goes on. Throws `TemplateUnusable`. */
  promptParts(
    turn: Pick<ChatTurn, "messages" | "functions" | "choice" | "format" | "beginning">,
  ): readonly PromptPart[] {
    const messages = arrangeTurn(turn);
    const beginning = turn.beginning === "" ? [] : [words(turn.beginning)];
    let refusal: unknown = null;
    // In this order, because each attempt changes more of what was said.
    for (const attempt of [messages, withoutSystemRole(messages), withUserFirst(withoutSystemRole(messages))]) {
      try {
        return [...this.#render(attempt), ...beginning];
      } catch (error) {
        refusal ??= error;
      }
    }
    throw new TemplateUnusable(`refuses the messages: ${messageOf(refusal)}`, { cause: refusal });
  }

  #render(messages: readonly TurnMessage[]): readonly PromptPart[] {
    const output = this.#template.render({
      messages: messages.map(({ role }, place) => ({ role, content: ` ${OPEN}${place}${CLOSE} ` })),
      add_generation_prompt: true,
      bos_token: this.#tokens.bosToken,
      eos_token: this.#tokens.eosToken,
      tools: null,
      documents: null,
      enable_thinking: false,
    });
    return fillPlaceholders(output, messages);
  }
}

/** Splits what was rendered at its placeholders. Each must be there, or a text would be lost in silence. */
function fillPlaceholders(output: string, messages: readonly TurnMessage[]): readonly PromptPart[] {
  const parts: PromptPart[] = [];
  const places = new Set<number>();
  let rest = output;
  for (let match = PLACEHOLDER.exec(rest); match !== null; match = PLACEHOLDER.exec(rest)) {
    const [whole, before = "", number = "", after = ""] = match;
    const place = Number(number);
    parts.push(templateText(rest.slice(0, match.index)));
    parts.push(...trimmedParts(messages[place]?.parts ?? [], { start: before === "", end: after === "" }));
    places.add(place);
    rest = rest.slice(match.index + whole.length);
  }
  if (places.size < messages.length) throw new Error("it leaves out a message");
  return [...parts, templateText(rest)].filter(({ text }) => text !== "");
}

function trimmedParts(
  parts: readonly PromptPart[],
  { start, end }: { readonly start: boolean; readonly end: boolean },
): readonly PromptPart[] {
  return parts.map(({ text, isTemplate }, place) => {
    const headless = start && place === 0 ? text.trimStart() : text;
    return { text: end && place === parts.length - 1 ? headless.trimEnd() : headless, isTemplate };
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
