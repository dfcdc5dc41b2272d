import { assert } from "@antiphon/base/assert.ts";
import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { SdkError, SdkErrorCode, type Transport } from "@modelcontextprotocol/client";
import { ServerSecrets } from "../authorization/server-secrets.ts";
import { McpTimeout, ProgramSilent } from "../mcp-failure.ts";
import type { McpProgram, McpServer } from "../mcp-server.ts";
import { ComplaintLog } from "./complaint-log.ts";
import { ProgramTransport } from "./program-transport.ts";

export interface ProgramParts {
  readonly log: Logger;
  /** Limits running programs. */
  readonly programPlaces?: Semaphore;
  /** Ends the wait for a place. */
  readonly signal: AbortSignal;
}

/** A transport to an operator's program, whose stderr goes to the log. */
export function openProgram(
  server: McpServer,
  program: McpProgram,
  { log, programPlaces, signal }: ProgramParts,
): ProgramTransport {
  assert(programPlaces !== undefined, "connections to programs know their limit");
  const secrets = new ServerSecrets(server);
  const complaints = new ComplaintLog(
    (fields, message) => log.info({ server: server.label, ...fields }, message),
    secrets,
  );
  return new ProgramTransport(program, {
    places: programPlaces,
    signal,
    onComplaint: (bytes) => complaints.add(bytes),
    onDeath: ({ lastWords }) => {
      complaints.end();
      log.warn({ server: server.label, stderr: secrets.redact(lastWords) }, "program of an MCP server ended");
    },
  });
}

/** What the program wrote to stderr explains more than the client library's error. */
export function causeOf(error: unknown, transport: Transport): unknown {
  if (!(transport instanceof ProgramTransport)) return error;
  if (transport.death !== null) return transport.death;
  return isTimeout(error) ? new ProgramSilent(transport.lastWords, error) : error;
}

function isTimeout(error: unknown): boolean {
  return error instanceof McpTimeout || (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout);
}
