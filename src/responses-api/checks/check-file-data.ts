import { unsupportedFileData } from "../errors/parameter-errors.ts";

/** Recordings and films are no files to read: the reference takes them in other parts, or not at all. */
const READABLE = /^(?!audio\/|video\/)[\w.+-]+\/[\w.+-]+$/i;

/** Refuses the data of an `input_file` at `param` unless it is a base64 data URL of something that can be read. */
export function checkFileData(fileData: unknown, param: string): void {
  if (typeof fileData !== "string") return;
  const comma = fileData.indexOf(",");
  const head = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(comma === -1 ? "" : fileData.slice(0, comma));
  const mimeType = head?.[1] ?? "";
  if (!READABLE.test(mimeType)) throw unsupportedFileData(`${param}.file_data`, mimeType);
}
