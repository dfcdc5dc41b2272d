import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** How far the clock of a caller may be off. */
const SKEW_MS_MAX = 15 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/**
 * Checks a request by the published description of "AWS Signature Version 4 in the Authorization header". Returns the
 * code of the error; null if the request may be carried out.
 */
export function signatureFault(request: IncomingMessage, body: Buffer, key: SigningKey): string | null {
  const [, accessKeyId, day = "", region, signedHeaders = "", signature = ""] =
    AUTHORIZATION.exec(request.headers.authorization ?? "") ?? [];
  if (accessKeyId === undefined) return "AccessDenied";
  if (accessKeyId !== key.accessKeyId) return "InvalidAccessKeyId";
  if (region !== key.region) return "AuthorizationHeaderMalformed";
  const date = headerOf(request, "x-amz-date");
  if (!date.startsWith(day) || Math.abs(Date.now() - timeOf(date)) > SKEW_MS_MAX) return "RequestTimeTooSkewed";
  const names = signedHeaders.split(";");
  const mustBeSigned = Object.keys(request.headers).filter((name) => name === "host" || name.startsWith("x-amz-"));
  if (mustBeSigned.some((name) => !names.includes(name))) return "AccessDenied";
  if (headerOf(request, "x-amz-content-sha256") !== hash(body)) return "XAmzContentSHA256Mismatch";
  const scope = `${day}/${key.region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", date, scope, hash(canonicalRequest(request, names))].join("\n");
  const derived = [day, key.region, "s3", "aws4_request"].reduce<Buffer | string>(
    (secret, text) => hmac(secret, text),
    `AWS4${key.secretAccessKey}`,
  );
  const expected = hmac(derived, toSign);
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) ? null : "SignatureDoesNotMatch";
}

function canonicalRequest(request: IncomingMessage, names: readonly string[]): string {
  const [path = "", search = ""] = (request.url ?? "").split("?", 2);
  const query = [...new URLSearchParams(search)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .toSorted()
    .join("&");
  const headers = names.map((name) => `${name}:${headerOf(request, name).trim().replaceAll(/ +/g, " ")}\n`).join("");
  const canonicalPath = path
    .split("/")
    .map((part) => encoded(decodeURIComponent(part)))
    .join("/");
  return [
    request.method,
    canonicalPath,
    query,
    headers,
    names.join(";"),
    headerOf(request, "x-amz-content-sha256"),
  ].join("\n");
}

/** Everything but letters, digits and `-._~`, which `encodeURIComponent` leaves alone in part. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function headerOf(request: IncomingMessage, name: string): string {
  return String(request.headers[name] ?? "");
}

function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

function hash(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
