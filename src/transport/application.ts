import type { RequestListener } from "node:http";
import Koa, { type DefaultState, type Next } from "koa";
import type { Logger } from "../base/logger.ts";
import { type Admission, admitCaller } from "./admission.ts";
import { answerError } from "./answer-error.ts";
import { type Assets, assetServer } from "./assets.ts";
import type { Contract } from "./contract.ts";
import { isPreflight, preflightHeaders } from "./cross-origin.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import type { Faults } from "./faults.ts";
import type { HandlerTable } from "./handler.ts";
import { InFlight } from "./in-flight.ts";
import { type ExchangeHolder, mountOperations, type OperationRouter } from "./mount-operations.ts";
import { TRANSPORT_DEFAULTS, type TransportOptions } from "./options.ts";
import type { RequestObserver } from "./request-observer.ts";
import { acceptUpgrades, type Upgrade, type UpgradeListener } from "./websocket.ts";
import { writeWhole } from "./write-whole.ts";

export interface ApplicationParts<P> {
  readonly contract: Contract;
  readonly handlers: HandlerTable<P>;
  readonly admission: Admission<P>;
  readonly faults: Faults;
  readonly log: Logger;
  readonly assets?: Assets;
  readonly upgrades?: readonly Upgrade<P>[];
  readonly options?: Partial<TransportOptions>;
  readonly observer?: RequestObserver;
}

/** An interface ready to be listened with. */
export interface Application {
  readonly serve: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly inFlight: InFlight;
  readonly faults: Faults;
  readonly log: Logger;
}

/** Puts an interface together. Throws if an operation has no handler. */
export function createApplication<P>(parts: ApplicationParts<P>): Application {
  const options = { ...TRANSPORT_DEFAULTS, ...parts.options };
  const inFlight = new InFlight();
  const exchangeParts = { inFlight, log: parts.log, options, observer: parts.observer };
  const serveAsset = assetServer(parts.assets ?? {});
  const router = mountOperations({ ...parts, options });
  const koa = new Koa<DefaultState, ExchangeHolder>();
  koa.on("error", (error: unknown) => parts.log.debug({ err: error }, "a connection failed"));
  koa.use((ctx, next) => {
    ctx.respond = false; // Replies are written by write-reply and its kin only.
    ctx.exchange = openExchange(ctx.req, ctx.res, exchangeParts);
    return answered(ctx.exchange, next, parts, options, inFlight);
  });
  koa.use(async ({ exchange }, next) => {
    return (await serveAsset(exchange)) ? undefined : next(); // Not awaited: while a stream lasts, each function that waits for it takes memory.
  });
  koa.use(router.routes());
  koa.use(({ exchange }) => refuseUnknown(exchange, router, parts));
  const upgrade = acceptUpgrades({ ...parts, upgrades: parts.upgrades ?? [], options, inFlight });
  const serve = koa.callback();
  return {
    serve: (request, response) => void serve(request, response),
    upgrade,
    inFlight,
    faults: parts.faults,
    log: parts.log,
  };
}

async function answered<P>(
  exchange: Exchange,
  next: Next,
  parts: ApplicationParts<P>,
  options: TransportOptions,
  inFlight: InFlight,
): Promise<void> {
  try {
    if (lacksHost(exchange)) throw parts.faults.malformedRequest(400);
    admitCaller(exchange.caller, parts.admission, inFlight, parts.faults);
    if (isPreflight(exchange.caller, options)) await writeWhole(exchange, 204, preflightHeaders(exchange.caller), null);
    else await next();
  } catch (error) {
    await answerError(exchange, error, parts.faults, options.prettyJson);
  }
}

/** HTTP/1.1 wants a host in every request. */
function lacksHost({ request }: Exchange): boolean {
  return request.httpVersion === "1.1" && request.headers.host === undefined;
}

function refuseUnknown<P>(exchange: Exchange, router: OperationRouter, parts: ApplicationParts<P>): never {
  const { faults, upgrades = [] } = parts;
  const { path } = exchange;
  const method = exchange.request.method ?? "";
  const isUpgradePath = upgrades.some((upgrade) => upgrade.path === path);
  const isKnownPath = router.match(path, method).path.length > 0;
  if (isKnownPath && faults.methodNotAllowed !== undefined) throw faults.methodNotAllowed(method, path);
  if (isUpgradePath && faults.upgradeRequired !== undefined) throw faults.upgradeRequired(path);
  throw faults.unknownRoute(method, path);
}
