import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { LRUCache } from "lru-cache";
import { ENCRYPTED_REASONING, extraMembers } from "./request/map-responses-request.ts";

/**
 * What a model server refuses: to encrypt reasoning, as for models that do not reason; its own encrypted reasoning, as
 * after a change of its key; members that the Responses API lacks.
 */
export type ServerGap = "encrypting" | "encrypted" | "extras";

const MODELS_MAX = 100;
/** A server may be upgraded. */
const FRESH_MS = 60 * 60_000;
const ABOUT_ENCRYPTING = /encrypted content is not supported|reasoning\.encrypted_content/i;
const ABOUT_ENCRYPTED = /encrypted content.{0,200}(?:could not|cannot|can't) be (?:verified|decrypted)/is;

/** Remembers for each model what its server refuses. */
export class ServerGaps {
  readonly #byModel = new LRUCache<string, ReadonlySet<ServerGap>>({ max: MODELS_MAX, ttl: FRESH_MS });

  of(model: string): ReadonlySet<ServerGap> {
    return this.#byModel.get(model) ?? new Set();
  }

  /** Reasoning of one conversation says nothing about another, so its refusal is not kept. */
  remember(model: string, gaps: ReadonlySet<ServerGap>): void {
    const lasting = [...gaps].filter((gap) => gap !== "encrypted");
    if (lasting.length > 0) this.#byModel.set(model, new Set(lasting));
  }
}

/** The gap that a refusal tells of; null if it is about something else. */
export function gapIn(refusal: unknown, request: ModelRequest): ServerGap | null {
  if (!(refusal instanceof ModelError) || refusal.type !== "invalid_request_error") return null;
  const { code, param, message } = refusal;
  const hasSeals = request.items.some((item) => item.type === "reasoning" && item.encrypted_content != null);
  if (hasSeals && (code === "invalid_encrypted_content" || ABOUT_ENCRYPTED.test(message))) return "encrypted";
  const isOfInclude = param !== null && /^include\b/.test(param) && message.includes(ENCRYPTED_REASONING);
  if (isOfInclude || ABOUT_ENCRYPTING.test(message)) return "encrypting";
  const names = Object.keys(extraMembers(request));
  return names.some((name) => param === name || message.includes(`'${name}'`)) ? "extras" : null;
}
