/** Any text that the parts do not contain. The `Content-Type` header tells readers the boundary. */
const BOUNDARY = "antiphon-form";

export interface FormPart {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Present if the part is a file. */
  readonly file?: { readonly filename: string; readonly type: string };
}

export type Form = readonly FormPart[];

const FILE = { filename: "recording.wav", type: "audio/wav" } as const;

/** The form part that holds the recording. */
export function audioPart(content: Uint8Array<ArrayBuffer>): FormPart {
  return { name: "audio", content, file: FILE };
}

/** The recording in the form that our client takes. */
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

/** The form as a `FormData` for `fetch`. */
export function formData(form: Form): FormData {
  const data = new FormData();
  for (const { name, content, file } of form) {
    if (file === undefined) data.append(name, Buffer.from(content).toString());
    else data.append(name, new Blob([content], { type: file.type }), file.filename);
  }
  return data;
}
