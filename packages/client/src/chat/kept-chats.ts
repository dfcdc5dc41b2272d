import type { UIMessage } from "ai";
import { isRecord, parseJson, textAt } from "../http/json-members.ts";

/** Stores chats across reloads: `sessionStorage`, `localStorage` or anything with their interface. */
export interface ChatStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The latest response of a chat. */
export interface KeptChat<Message extends UIMessage = UIMessage> {
  readonly responseId: string;
  /** The id of the message that shows the response. */
  readonly messageId: string;
  /** The messages when the response was requested, without the response's own parts. */
  readonly messages: readonly Message[];
}

/** Remembers the latest response of each chat. Unreadable and unwritable entries count as missing. */
export class KeptChats<Message extends UIMessage> {
  readonly #storage: ChatStorage;

  constructor(storage: ChatStorage) {
    this.#storage = storage;
  }

  keep(chatId: string, chat: KeptChat<Message>): void {
    try {
      this.#storage.setItem(storageKey(chatId), JSON.stringify(chat));
    } catch {
      this.forget(chatId); // The storage is full, and an older response must not be resumed instead of this one.
    }
  }

  find(chatId: string): KeptChat<Message> | null {
    const text = this.#storage.getItem(storageKey(chatId));
    const value = text === null ? null : parseJson(text);
    return isKept<Message>(value) ? value : null;
  }

  forget(chatId: string): void {
    this.#storage.removeItem(storageKey(chatId));
  }
}

/** A storage that ends with the page, for environments without `sessionStorage`. */
export function memoryStorage(): ChatStorage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

function storageKey(chatId: string): string {
  return `antiphon-chat:${chatId}`;
}

/** Only this module writes these values, so only their outer form is checked, not each message. */
function isKept<Message extends UIMessage>(value: unknown): value is KeptChat<Message> {
  if (!isRecord(value) || !Array.isArray(value["messages"])) return false;
  return textAt(value, "responseId") !== null && textAt(value, "messageId") !== null;
}
