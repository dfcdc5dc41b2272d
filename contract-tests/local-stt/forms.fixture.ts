/** Any will do that is not in the parts: readers of forms go by the one that the header names. */
const BOUNDARY = "antiphon-form";

export interface FormPart {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Of a file. */
  readonly file?: { readonly filename: string; readonly type: string };
}

export type Form = readonly FormPart[];

const FILE = { filename: "recording.wav", type: "audio/wav" } as const;

/** The part with the recording. */
export function audioPart(content: Uint8Array<ArrayBuffer>): FormPart {
  return { name: "audio", content, file: FILE };
}

/** The same as our client takes it. */
export function upload(bytes: Uint8Array<ArrayBuffer>) {
  return { filename: FILE.filename, mimeType: FILE.type, bytes };
}

export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function formBytes(form: Form): Buffer {
  const parts = form.flatMap(({ name, content, file }) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(file === undefined ? "" : `; filename="${file.filename}"\r\nContent-Type: ${file.type}`),
    Buffer.from("\r\n\r\n"),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** The form as fetch takes it. */
export function formData(form: Form): FormData {
  const data = new FormData();
  for (const { name, content, file } of form) {
    if (file === undefined) data.append(name, Buffer.from(content).toString());
    else data.append(name, new Blob([content], { type: file.type }), file.filename);
  }
  return data;
}
