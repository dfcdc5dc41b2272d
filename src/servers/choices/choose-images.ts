import type { Config } from "../../config/load-config.ts";
import type { Egress } from "../../egress/egress.ts";
import type { HostedTool } from "../../responses-api/hosted-tool.ts";
import { ImageServer } from "../../tools/image-generation/image-server.ts";
import { imageTool } from "../../tools/image-generation/image-tool.ts";

/** The tool image_generation with the images server of the settings. */
export function chooseImages(config: Config, egress: Egress): HostedTool {
  const { imageBaseUrl: baseUrl, imageApiKey, imageModel: model, imageTimeoutMs: timeoutMs } = config;
  if (baseUrl === null) return imageTool(null);
  const apiKey = imageApiKey?.reveal() ?? null;
  return imageTool({ server: new ImageServer({ baseUrl, apiKey, model, timeoutMs }), egress });
}
