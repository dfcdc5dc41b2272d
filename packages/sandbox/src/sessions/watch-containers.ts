import type { Logger } from "@antiphon/base/logger.ts";
import type { StoredContainers } from "../ports/stored-containers.ts";
import type { ContainerSession } from "./container-session.ts";

const INTERVAL_MS = 2_000;

/**
 * Checks every two seconds whether the containers of sessions still exist, ends the sessions of missing ones, and keeps
 * containers from expiring while code runs in them. Returns a function that stops it.
 */
export function watchContainers(
  sessions: () => readonly ContainerSession[],
  containers: Pick<StoredContainers, "find" | "touch">,
  log: Logger,
): () => void {
  let isLooking = false;
  const look = async (session: ContainerSession): Promise<void> => {
    const { owner, containerId } = session;
    const isThere =
      session.idleSince === null
        ? await containers.touch(owner, containerId)
        : (await containers.find(owner, containerId)) !== null;
    if (!isThere) await session.end("gone");
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void Promise.all(sessions().map(look))
      .catch((error: unknown) => log.warn({ err: error }, "could not look up the containers of sessions"))
      .finally(() => (isLooking = false));
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
