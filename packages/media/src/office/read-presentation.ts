import type { Archive } from "./archive.ts";
import { readTargets, relationsOf } from "./read-targets.ts";
import { readXml, type XmlListener } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

/** Writes the text of all slides in order, each under its title and followed by its notes. */
export async function readPresentation(archive: Archive, presentation: string, sink: TextSink): Promise<void> {
  for (const slide of await readSlides(archive, presentation)) {
    await readXml(archive, slide, new SlideReader(sink, true));
    const notes = archive.has(relationsOf(slide)) ? await readTargets(archive, slide, "notesSlide") : null;
    for (const part of notes?.values() ?? []) await readXml(archive, part, new SlideReader(sink, false));
    sink.write("\n");
  }
}

/** The parts of the slides in the order of the list of slides, or by their names if the list is incomplete. */
async function readSlides(archive: Archive, presentation: string): Promise<readonly string[]> {
  const targets = await readTargets(archive, presentation, "slide");
  const slides: string[] = [];
  await readXml(archive, presentation, {
    openElement(name, { id }) {
      const target = name === "sldId" && id !== undefined ? targets.get(id) : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  if (slides.length === targets.size) return slides;
  return [...targets.values()].toSorted((one, other) => one.localeCompare(other, "en", { numeric: true }));
}

/** Writes a line per paragraph, with `##` before the title. */
class SlideReader implements XmlListener {
  readonly #sink: TextSink;
  readonly #hasTitle: boolean;
  #isTitle = false;
  #isText = false;
  #isField = false;
  #paragraph: string[] = [];

  constructor(sink: TextSink, hasTitle: boolean) {
    this.#sink = sink;
    this.#hasTitle = hasTitle;
  }

  openElement(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "sp") this.#isTitle = false;
    if (name === "ph") this.#isTitle = this.#hasTitle && /^(?:title|ctrTitle)$/.test(attributes["type"] ?? "");
    if (name === "fld") this.#isField = true; // A page number or a date.
    if (name === "br") this.#paragraph.push(this.#isTitle ? " " : "\n");
    if (name === "t") this.#isText = !this.#isField;
  }

  closeElement(name: string): void {
    if (name === "t") this.#isText = false;
    if (name === "fld") this.#isField = false;
    if (name !== "p") return;
    const text = this.#paragraph.join("").trimEnd();
    this.#paragraph = [];
    if (text !== "") this.#sink.write(this.#isTitle ? `## ${text}\n` : `${text}\n`);
  }

  text(text: string): void {
    if (this.#isText) this.#paragraph.push(text);
  }
}
