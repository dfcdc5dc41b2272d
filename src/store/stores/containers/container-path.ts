/** The folder of a container's files. */
export const DATA_FOLDER = "/mnt/data/";

/** Linux allows 255 bytes in a name. The rest is for a prefix. */
const NAME_BYTES_MAX = 180;
const EXTENSION_CHARACTERS_MAX = 20;
const PATH_BYTES_MAX = 4096;
const PART_BYTES_MAX = 255;

/** The path of a file named by a client: the part after the last slash, without characters that a name cannot have. */
export function pathOfUpload(filename: string): string {
  return DATA_FOLDER + nameOfUpload(filename);
}

/** The same, prefixed by the id of the uploaded file to make it unique. */
export function ownPathOfUpload(filename: string, fileId: string): string {
  return `${DATA_FOLDER}${fileId}-${nameOfUpload(filename)}`;
}

/** Whether a container may have a file at this path: below `/mnt/data`, without detours. */
export function isContainerPath(path: string): boolean {
  if (!path.startsWith(DATA_FOLDER) || path.includes("\0") || !path.isWellFormed()) return false;
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return false;
  return path.slice(DATA_FOLDER.length).split("/").every(isPart);
}

function isPart(part: string): boolean {
  return part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= PART_BYTES_MAX;
}

function nameOfUpload(filename: string): string {
  const last = filename.toWellFormed().split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- They are what is replaced.
  const name = shortenName(last.replaceAll(/[\u0000-\u001f\u007f]/g, "_"));
  return isPart(name) ? name : "file";
}

/** Keeps the extension, because programs depend on it. */
function shortenName(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= EXTENSION_CHARACTERS_MAX ? name.slice(dot) : "";
  return cutTo(name, NAME_BYTES_MAX - Buffer.byteLength(extension)) + extension;
}

/** The longest beginning of at most `bytesMax` bytes. */
function cutTo(text: string, bytesMax: number): string {
  let result = "";
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) return result;
    result += character;
  }
  return result;
}
