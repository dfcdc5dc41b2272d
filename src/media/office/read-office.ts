import { Archive } from "./archive.ts";
import { readContentTypes } from "./content-types.ts";
import { type OfficeOutcome, type OfficeTask, ReadingEnded } from "./office-outcome.ts";
import { readDocument } from "./read-document.ts";
import { readWorkbook } from "./read-workbook.ts";
import { TextSink } from "./text-sink.ts";

/** The text of a text document or a workbook of Office. Never throws: a document may hold anything. */
export async function readOffice({ bytes, charactersMax }: OfficeTask): Promise<OfficeOutcome> {
  const sink = new TextSink(charactersMax);
  try {
    const archive = await Archive.open(bytes);
    if (!archive.has("[Content_Types].xml")) return { type: "other" };
    const parts = await readContentTypes(archive);
    if (parts.has("document")) await readDocument(archive, parts, sink);
    else if (parts.has("workbook")) await readWorkbook(archive, parts, sink);
    else return { type: "other" };
    return { type: "text", text: sink.text };
  } catch (error) {
    return error instanceof ReadingEnded ? error.outcome : { type: "broken" };
  }
}
