import type { ImageGenerationCall, ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type {
  HostedTool,
  MadeCall,
  OpenTool,
  ToolCall,
  ToolOutcome,
  ToolRefusal,
  ToolScope,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { failedOutcome } from "../failed-outcome.ts";
import { readArguments, textArgument } from "../read-arguments.ts";
import {
  DrawingFailed,
  type DrawnPicture,
  type ImageOrder,
  type ImageServer,
  type PartialPicture,
  type Picture,
} from "./image-server.ts";
import { drawnPicture, pictureAt, picturesOfContext } from "./pictures-of-context.ts";

type ImageInput = Extract<ToolInput, { type: "image_generation" }>;

/** The images server, and the guard of fetched pictures. */
export interface ImageServices {
  readonly server: ImageServer;
  readonly egress: Egress;
}

const PROMPT_CHARACTERS_MAX = 32_000;
const NO_SERVER = "This server draws no pictures. Its operator can set IMAGE_BASE_URL.";
/** Members that are sent unless they mean the server's default. */
const OPTIONS = [
  "model",
  "size",
  "quality",
  "background",
  "output_format",
  "output_compression",
  "moderation",
] as const;
const EDIT_OPTIONS = [...OPTIONS, "input_fidelity"] as const;
const NO_COMPRESSION = 100;

/** The tool `image_generation`. `services` is null if no images server is configured. */
export function imageTool(services: ImageServices | null): HostedTool {
  return {
    kind: "image_generation",
    types: ["image_generation"],
    refusal: (tool) => (tool.type === "image_generation" ? imageRefusal(tool, services) : null),
    open: async (tool, scope) => {
      if (services === null || tool.type !== "image_generation")
        throw new Error("an image tool that was refused cannot be opened");
      return openImages(services, tool, scope);
    },
  };
}

function imageRefusal(tool: ImageInput, services: ImageServices | null): ToolRefusal | null {
  if (services === null) return { reason: NO_SERVER, member: null, grade: "unavailable" };
  if (tool.output_format === "svg" || tool.svg != null)
    return { reason: "This server draws no SVG.", member: "output_format", grade: "unavailable" };
  const animationMember = (["frame_count", "frame_duration_ms", "complexity"] as const).find(
    (name) => tool[name] != null,
  );
  if (animationMember === undefined) return null;
  return { reason: `This server cannot honour '${animationMember}'.`, member: animationMember, grade: "unavailable" };
}

/** The pictures drawn so far in the response, for later changes. */
interface Drawing {
  readonly services: ImageServices;
  readonly tool: ImageInput;
  readonly scope: ToolScope;
  last: Picture | null;
}

function openImages(services: ImageServices, tool: ImageInput, scope: ToolScope): OpenTool {
  const drawing: Drawing = { services, tool, scope, last: null };
  return {
    functions: [imageFunction(tool)],
    note: null,
    opening: [],
    pending: [],
    call: (_name, origin) => imageCall(drawing, origin),
    close: async () => {},
  };
}

function imageFunction({ action }: ImageInput): HostedFunction {
  const prompt = { prompt: { type: "string", description: "A full description of the picture or of the change." } };
  const isFixed = action === "generate" || action === "edit";
  const choice = {
    action: { type: "string", enum: ["generate", "edit"], description: "edit changes the last picture." },
  };
  return {
    type: "hosted_function",
    server: null,
    name: "generate_image",
    description: "Draws a picture from a full description, or changes the last one. The user sees the picture.",
    parameters: {
      type: "object",
      properties: isFixed ? prompt : { ...prompt, ...choice },
      required: ["prompt"],
    },
  };
}

function imageCall(drawing: Drawing, origin: MadeCall): ToolCall {
  const id = origin.newItemId("ig");
  const first: ImageGenerationCall = { id, type: "image_generation_call", status: "in_progress" };
  return {
    item: first,
    streams: null,
    effect: "none", // It costs money but changes nothing.
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      yield { type: "generating" };
      try {
        return yield* drawnOutcome(drawing, id, args, signal);
      } catch (error) {
        if (error instanceof DrawingFailed) return failedOutcome(first, error.message);
        throw error;
      }
    },
  };
}

async function* drawnOutcome(
  drawing: Drawing,
  id: string,
  args: string,
  signal: AbortSignal,
): AsyncGenerator<ToolStep, ToolOutcome> {
  const request = readArguments(args) ?? {};
  const prompt = textArgument(request, "prompt");
  if (prompt === null) throw new DrawingFailed("The arguments need `prompt`.");
  const { tool, scope, services } = drawing;
  const pictures = await picturesFor(drawing, request["action"], signal);
  const order = await orderOf(drawing, prompt.slice(0, PROMPT_CHARACTERS_MAX), pictures, signal);
  const picture = yield* inSteps(services.server.draw(order, signal), tool);
  const item = itemOf(id, tool, picture, pictures.length > 0 ? "edit" : "generate");
  drawing.last = await drawnPicture(picture.base64, item.output_format ?? "png");
  return {
    type: "ran",
    item,
    output: "The picture was drawn, and the user sees it.",
    parts: scope.abilities.images ? [shownPicture(item)] : [],
    sources: [],
    usage: picture.usage,
  };
}

/** The pictures to change; empty for a new picture. */
async function picturesFor(
  drawing: Drawing,
  requestedAction: unknown,
  signal: AbortSignal,
): Promise<readonly Picture[]> {
  const { tool, scope, services, last } = drawing;
  const action = tool.action === "generate" || tool.action === "edit" ? tool.action : requestedAction;
  if (action !== "edit") return [];
  if (last !== null) return [last];
  const pictures = await picturesOfContext(scope.context, services.egress, scope.owner.project, signal);
  if (pictures.length === 0) throw new DrawingFailed("There is no picture to change. Ask for a new one.");
  return pictures;
}

async function orderOf(
  { tool, scope, services }: Drawing,
  prompt: string,
  pictures: readonly Picture[],
  signal: AbortSignal,
): Promise<ImageOrder> {
  const names = pictures.length > 0 ? EDIT_OPTIONS : OPTIONS;
  const options = names.flatMap((name) => {
    const value = tool[name];
    return value == null || value === "auto" || value === NO_COMPRESSION ? [] : [[name, value] as const];
  });
  const maskUrl = tool.input_image_mask?.image_url;
  const mask =
    pictures.length === 0 || maskUrl === undefined
      ? null
      : await pictureAt(maskUrl, services.egress, scope.owner.project, signal);
  return { prompt, options: Object.fromEntries(options), partialImages: tool.partial_images ?? 0, pictures, mask };
}

async function* inSteps(
  drawing: AsyncGenerator<PartialPicture, DrawnPicture>,
  tool: ImageInput,
): AsyncGenerator<ToolStep, DrawnPicture> {
  for (;;) {
    const next = await drawing.next();
    if (next.done === true) return next.value;
    const { index, base64, ownSettings } = next.value;
    if (index >= (tool.partial_images ?? 0)) continue;
    yield {
      type: "partial_image",
      partial_image_index: index,
      partial_image_b64: base64,
      ...shownOptions(tool, ownSettings),
    };
  }
}

/** The server's description of its picture, otherwise the requested values. */
function shownOptions(tool: ImageInput, ownSettings: Readonly<Record<string, string>>) {
  return {
    background: ownSettings["background"] ?? tool.background ?? "auto",
    output_format: ownSettings["output_format"] ?? tool.output_format ?? "png",
    quality: ownSettings["quality"] ?? tool.quality ?? "auto",
    size: ownSettings["size"] ?? tool.size ?? "auto",
  };
}

function itemOf(
  id: string,
  tool: ImageInput,
  { base64, revisedPrompt, ownSettings }: DrawnPicture,
  action: "generate" | "edit",
): ImageGenerationCall {
  const { background, output_format: format, quality, size } = shownOptions(tool, ownSettings);
  return {
    id,
    type: "image_generation_call",
    status: "completed",
    action,
    background: one(["transparent", "opaque", "auto"], background, "auto"),
    output_format: one(["png", "webp", "jpeg", "gif", "svg"], format, "png"),
    quality: one(["low", "medium", "high", "xhigh", "max", "auto"], quality, "auto"),
    result: base64,
    revised_prompt: revisedPrompt,
    size,
  };
}

/** The value if it is in the list, otherwise the fallback. */
function one<const Value extends string>(values: readonly Value[], choice: string, fallback: NoInfer<Value>): Value {
  return values.find((value) => value === choice) ?? fallback;
}

function shownPicture({ result, output_format: format }: ImageGenerationCall) {
  const image_url = `data:image/${format ?? "png"};base64,${result ?? ""}`;
  return { type: "input_image" as const, image_url, detail: "auto" as const };
}
