import { isRecord, plainText, textAt } from "./json-members.ts";

const UNNAMED = "upload";

/** A form with one part for each member; members of objects are called `name[member]`, those of lists `name[]`. */
export function writeForm(body: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(isRecord(body) ? body : {})) appendPart(form, name, value);
  return form;
}

function appendPart(form: FormData, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (value instanceof Blob) return form.append(name, value, fileName(value));
  if (Array.isArray(value)) {
    for (const member of value) appendPart(form, `${name}[]`, member);
    return;
  }
  if (!isRecord(value)) return form.append(name, plainText(value));
  if (value["bytes"] instanceof Uint8Array) {
    const blob = new Blob([copyBytes(value["bytes"])], {
      type: textAt(value, "mimeType") ?? "application/octet-stream",
    });
    return form.append(name, blob, textAt(value, "filename") ?? UNNAMED);
  }
  for (const [member, inner] of Object.entries(value)) appendPart(form, `${name}[${member}]`, inner);
}

/** Blobs do not take bytes that are shared between threads. */
function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function fileName(blob: Blob): string {
  return "name" in blob && typeof blob.name === "string" ? blob.name : UNNAMED;
}
