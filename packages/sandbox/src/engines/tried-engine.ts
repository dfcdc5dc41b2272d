import type { CodeAbilities } from "@antiphon/domain/containers.ts";
import type { LinkEnd, LinkedChild, LinkStart } from "../harness/sandbox-channel.ts";
import { SandboxLink } from "../harness/sandbox-link.ts";
import { type Sandbox, type SandboxEngine, SandboxFailed, type SandboxLimits } from "../ports/sandbox-engine.ts";

const COMPLAINT_CHARACTERS_MAX = 300;

/** Starts a sandbox. Rejects with `SandboxFailed`, or the signal's reason. */
export type StartLink = (limits: SandboxLimits, signal: AbortSignal) => Promise<SandboxLink>;

/** An engine that has run one sandbox. Closing it ends all its sandboxes. */
export class TriedEngine implements SandboxEngine {
  readonly abilities: CodeAbilities;
  readonly #start: StartLink;
  readonly #live = new Set<Sandbox>();

  private constructor(abilities: CodeAbilities, start: StartLink) {
    this.abilities = abilities;
    this.#start = start;
  }

  /** Starts one sandbox within `limits` to find out its abilities. Rejects like `start`. */
  static async open(
    name: CodeAbilities["engine"],
    start: StartLink,
    limits: SandboxLimits,
    signal: AbortSignal,
  ): Promise<TriedEngine> {
    const link = await start(limits, signal);
    try {
      const { python, hasShell } = link;
      return new TriedEngine({ engine: name, python, packages: await link.packages(signal), hasShell }, start);
    } finally {
      await link.kill();
    }
  }

  async start(limits: SandboxLimits, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.#start(limits, signal);
    this.#live.add(sandbox);
    void sandbox.exit.then(() => this.#live.delete(sandbox));
    return sandbox;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live].map((sandbox) => sandbox.kill()));
  }
}

/** Like `SandboxLink.open`. If it fails, the error includes the program's stderr. */
export async function openLink(
  start: (end: LinkEnd, onComplaint: (bytes: Buffer) => void) => Promise<LinkedChild>,
  rest: Omit<LinkStart, "start">,
  signal: AbortSignal,
): Promise<SandboxLink> {
  let complaint = "";
  const listen = (bytes: Buffer): void => {
    complaint = (complaint + bytes.toString("utf8")).slice(0, COMPLAINT_CHARACTERS_MAX);
  };
  try {
    return await SandboxLink.open({ ...rest, start: (end) => start(end, listen) }, signal);
  } catch (error) {
    if (!(error instanceof SandboxFailed) || complaint === "") throw error;
    throw new SandboxFailed(complaint.trim(), { cause: error });
  }
}
