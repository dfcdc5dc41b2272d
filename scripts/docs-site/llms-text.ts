import type { Section } from "./outline.ts";

const SUMMARY =
  "Antiphon is a self-hosted, OpenAI-compatible Responses API and speech-to-text server. It serves the whole Responses API in front of any chat-completions model.";

/** `llms.txt`: the pages of the site for programs that read it, each with what it is about. */
export function llmsIndex(sections: readonly Section[], addressOf: (link: string) => string): string {
  const lists = sections.map(
    ({ title, pages }) =>
      `## ${title}\n\n${pages.map((page) => `- [${page.title}](${addressOf(page.link)}): ${page.about}`).join("\n")}\n`,
  );
  return `# Antiphon\n\n> ${SUMMARY}\n\n${lists.join("\n")}`;
}

/** `llms-full.txt`: the text of all pages, one after the other. */
export function llmsText(pages: readonly { readonly address: string; readonly text: string }[]): string {
  const texts = pages.map(({ address, text }) => `<!-- ${address} -->\n\n${text.trim()}\n`);
  return `# Antiphon\n\n> ${SUMMARY}\n\n${texts.join("\n---\n\n")}`;
}
