import { createContext, useContext } from "react";
import { Antiphon } from "../../../packages/client/src/index.ts";

/** The entry of the tab's storage that holds the key. It is gone when the tab is closed. */
const KEY_ENTRY = "antiphon.key";

export function storedKey(): string | null {
  return sessionStorage.getItem(KEY_ENTRY);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEY_ENTRY, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEY_ENTRY);
}

/** A client of the server that sent this page. */
export function clientWith(key: string): Antiphon {
  return new Antiphon({ baseUrl: location.origin, apiKey: key, retriesMax: 1 });
}

const SessionContext = createContext<Antiphon | null>(null);
export const SessionProvider = SessionContext.Provider;

/** The client of whoever signed in. */
export function useClient(): Antiphon {
  const client = useContext(SessionContext);
  if (client === null) throw new Error("Nobody has signed in.");
  return client;
}
