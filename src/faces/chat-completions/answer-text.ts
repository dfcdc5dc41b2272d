import type { ChatUrlCitation } from "@antiphon/contracts/chat-completions/types.ts";
import type { Annotation, OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import { TEXT_BREAK } from "../text-break.ts";

/** The texts of a run: those of its messages as one. */
export class AnswerText {
  content: string | null = null;
  refusal: string | null = null;
  reasoning = "";
  readonly citations: ChatUrlCitation[] = [];

  static of(output: readonly OutputItem[]): AnswerText {
    const answer = new AnswerText();
    for (const item of output) answer.#add(item);
    return answer;
  }

  #add(item: OutputItem): void {
    if (item.type === "reasoning") this.#addReasoning([...(item.content ?? []), ...item.summary]);
    if (item.type !== "message") return;
    const before = this.content === null || this.content === "" ? "" : `${this.content}${TEXT_BREAK}`;
    let text = "";
    for (const part of item.content) {
      if (part.type === "refusal") this.refusal = (this.refusal ?? "") + part.refusal;
      else {
        this.citations.push(...chatCitations(part.annotations, before + text));
        text += part.text;
      }
    }
    if (text !== "" || (this.content === null && this.refusal === null))
      this.content = text === "" ? (this.content ?? "") : before + text;
  }

  #addReasoning(parts: readonly { readonly text: string }[]): void {
    for (const { text } of parts) if (text !== "") this.reasoning += this.reasoning === "" ? text : TEXT_BREAK + text;
  }
}

/** The cited web pages of a text that follows another one. Positions count code points. */
function chatCitations(annotations: readonly Annotation[], before: string): ChatUrlCitation[] {
  const pages = annotations.filter((annotation) => annotation.type === "url_citation");
  if (pages.length === 0) return [];
  const offset = codePoints(before);
  return pages.map(({ start_index: start, end_index: end, url, title }) => ({
    type: "url_citation",
    url_citation: { end_index: offset + end, start_index: offset + start, title, url },
  }));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
