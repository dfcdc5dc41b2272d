import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { modelOf, type RendererCase } from "./cases.fixture.ts";
import { Masking } from "./masks.fixture.ts";
import type { Proxy } from "./proxy.fixture.ts";
import { type PageWithSource, type Source, type Step, show } from "./show.fixture.ts";
import { differenceOfTexts, differencesOfSnapshots } from "./snapshot-differences.fixture.ts";
import type { Viewer } from "./viewer.fixture.ts";

/** The two sources of a case's streams. */
export interface Sources {
  readonly reference: Source;
  readonly ours: Source;
}

export interface Comparison {
  /** Number of equal steps. */
  readonly steps: number;
  /** Describes the first step at which the pages differ, or their errors. Empty if the pages are equal. */
  readonly differences: readonly string[];
  /** PNG images of both pages at the first difference. */
  readonly screenshots: Readonly<Record<string, Buffer>>;
}

/** Folder for the screenshots of a difference. */
const SCREENSHOTS = join(import.meta.dirname, "../../build/renderer");

/** The proxy and the two browser windows. */
export interface BrowserPair {
  readonly proxy: Proxy;
  readonly viewers: readonly [reference: Viewer, ours: Viewer];
}

/** Shows a page from each source and compares them after each event, until they differ. */
export async function compare(
  { proxy, viewers }: BrowserPair,
  shown: RendererCase,
  sources: Sources,
): Promise<Comparison> {
  const [reference, ours] = await Promise.all([
    openPage(viewers[0], proxy, shown, sources.reference),
    openPage(viewers[1], proxy, shown, sources.ours),
  ]);
  const compared = await compareSteps(shown, show(reference, shown), show(ours, shown));
  if (compared.differences.length > 0) return compared;
  const [left, right] = viewers.map((viewer) => viewer.consoleErrors().join("\n"));
  const differences = [
    ...viewers.flatMap((viewer) => viewer.uncaughtErrors()),
    ...differenceOfTexts("errors in the console", left ?? "", right ?? ""),
  ];
  return { ...compared, differences };
}

/** Writes the screenshots to `build/renderer/` and returns a line with each path. */
export async function keepScreenshots(
  { name }: RendererCase,
  { screenshots }: Pick<Comparison, "screenshots">,
): Promise<string[]> {
  await mkdir(SCREENSHOTS, { recursive: true });
  const named = Object.entries(screenshots).map(([whose, image]) => {
    const file = join(SCREENSHOTS, `${name.replaceAll(/\W+/g, "-")}-${whose}.png`);
    return writeFile(file, image).then(() => `Screenshot: ${file}`);
  });
  return Promise.all(named);
}

async function compareSteps(
  { name }: RendererCase,
  reference: AsyncIterator<Step>,
  ours: AsyncIterator<Step>,
): Promise<Comparison> {
  for (let steps = 0; ; steps += 1) {
    const [left, right] = await Promise.all([reference.next(), ours.next()]);
    if (left.done === true && right.done === true) return { steps, differences: [], screenshots: {} };
    const [theirs, own]: (Step | null)[] = [left, right].map((step) => (step.done === true ? null : step.value));
    const differences = differencesOfSteps(theirs ?? null, own ?? null);
    if (differences.length === 0) continue;
    const where = `«${name}», step ${steps + 1}: ${theirs?.name ?? "nothing"} of the reference, ${own?.name ?? "nothing"} of ours`;
    return { steps, differences: [where, ...differences], screenshots: screenshotsOf(theirs ?? null, own ?? null) };
  }
}

/** Returns the differences of two steps. A step is null if its stream has ended. */
export function differencesOfSteps(reference: Step | null, ours: Step | null): string[] {
  if (reference === null) return ["Our stream continues after the end of the reference's."];
  if (ours === null) return ["Our stream ended before the reference's."];
  return [
    ...differenceOfTexts("event", reference.name, ours.name),
    ...differenceOfTexts("request", JSON.stringify(reference.request, null, 1), JSON.stringify(ours.request, null, 1)),
    ...differencesOfSnapshots(reference.snapshot, ours.snapshot),
  ];
}

async function openPage(viewer: Viewer, proxy: Proxy, shown: RendererCase, source: Source): Promise<PageWithSource> {
  const connection = proxy.connectPage();
  const query = new URLSearchParams({
    model: modelOf(shown),
    ...(shown.hasTool ? { tool: "" } : {}),
    ...(shown.isStateless ? { stateless: "" } : {}),
  });
  await viewer.visit(connection, query.toString());
  return { viewer, connection, source, masking: new Masking(shown.left) };
}

function screenshotsOf(reference: Step | null, ours: Step | null): Record<string, Buffer> {
  return {
    ...(reference === null ? {} : { reference: reference.snapshot.screenshot }),
    ...(ours === null ? {} : { ours: ours.snapshot.screenshot }),
  };
}
