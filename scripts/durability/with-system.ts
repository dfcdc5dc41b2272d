import type { Options } from "./options.ts";
import type { System } from "./systems/system.ts";
import { startWorld, type World } from "./world/world.ts";

export interface Place<Started extends System> {
  readonly world: World;
  readonly system: Started;
}

/** Starts a world and a system in it, and stops both after `use`. */
export async function withSystem<Started extends System, Result>(
  options: Pick<Options, "hasSameWords">,
  start: (world: World) => Promise<Started>,
  use: (place: Place<Started>) => Promise<Result>,
): Promise<Result> {
  const world = await startWorld(options);
  try {
    const system = await start(world);
    try {
      return await use({ world, system });
    } finally {
      await system.stop();
    }
  } finally {
    world.stop();
  }
}
