import { setText } from "./elements.ts";

/** Copies a text, and says in `note` whether that worked. */
export async function copyText(text: string, note: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    setText(note, text === "" ? "There is no text to copy." : "Copied.");
  } catch {
    setText(note, "The browser does not allow copying. Select the text, and copy it with the keyboard.");
  }
}
