/** The storage refused. A retry would not help. */
export class S3Refused extends Error {
  override readonly name = "S3Refused";
  readonly status: number;
  /** The name of the error, such as `AccessDenied`; empty if there was none. */
  readonly code: string;
  /** Whether an earlier attempt of the call had no reply and may have been executed. */
  readonly isRepeated: boolean;

  constructor(what: string, { status, code, isRepeated }: Pick<S3Refused, "status" | "code" | "isRepeated">) {
    super(`the file storage refused ${what}: ${[status, code].join(" ").trim()}`);
    this.status = status;
    this.code = code;
    this.isRepeated = isRepeated;
  }
}

/** The text of the first element of this name in a reply; empty if there is none. */
export function elementText(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => CHARACTERS.get(entity) ?? "");
}

/** Each element of this name, with its contents. */
export function elements(xml: string, name: string): readonly string[] {
  return xml.match(new RegExp(`<${name}>[^]*?</${name}>`, "g")) ?? [];
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES.get(character) ?? "");
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
]);

const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);
