/** The inspector: a page of Interface A that shows its runs and tries its models. */

import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { applyTheme, storedTheme } from "./shell/theme.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root.");
applyTheme(storedTheme());
createRoot(root).render(<App />);
