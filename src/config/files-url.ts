import { fileURLToPath } from "node:url";

/** The place of file contents, as set in FILES_URL. */
export type FilesPlace =
  /** `prefix` ends with a slash, or is empty. */
  | { readonly type: "bucket"; readonly bucket: string; readonly prefix: string }
  | { readonly type: "folder"; readonly path: string };

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Reads `s3://bucket/prefix` or `file:///folder`; null if it is neither. */
export function readFilesUrl(text: string): FilesPlace | null {
  const url = URL.parse(text);
  if (url === null || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return null;
  if (url.protocol === "file:" && url.host === "") return { type: "folder", path: fileURLToPath(url) };
  if (url.protocol !== "s3:" || !BUCKET.test(url.host)) return null;
  const prefix = decodeURIComponent(url.pathname)
    .split("/")
    .filter((part) => part !== "")
    .join("/");
  return { type: "bucket", bucket: url.host, prefix: prefix === "" ? "" : `${prefix}/` };
}
