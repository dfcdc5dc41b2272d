import type { TextShape } from "./interaction.fixture.ts";

const FORM_TYPE = "multipart/form-data; boundary=";
const BOUNDARY = "----formdata-example-012345678901";

/** A part of a form that is a file. */
export interface FilePart {
  /** Of the part; `file` by default. */
  readonly name?: string;
  readonly filename: string;
  readonly text: string;
}

/**
 * A form of these parts, and of a file unless that is null. Clients choose the boundary and the order of the parts, so
 * the pattern compares part by part.
 */
export function formOf(parts: Readonly<Record<string, string>>, file: FilePart | null): TextShape {
  const plain = Object.entries(parts).flatMap(([name, value]) => [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${name}"`,
    "",
    value,
  ]);
  const lines = [...plain, ...(file === null ? [] : linesOf(file)), `--${BOUNDARY}--`, ""];
  return { example: lines.join("\r\n"), contentType: formType() };
}

function linesOf({ name = "file", filename, text }: FilePart): readonly string[] {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="${filename}"`;
  return [`--${BOUNDARY}`, disposition, "Content-Type: text/plain", "", text];
}

function formType() {
  return { example: FORM_TYPE + BOUNDARY, pattern: "^multipart/form-data; ?boundary=.+$" };
}
