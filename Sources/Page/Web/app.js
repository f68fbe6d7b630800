import { Page } from "./page.js";
import { EmbeddedSource } from "./source/embedded.js";
import { readJSON } from "./source/exact-json.js";
import { ServerSource } from "./source/server.js";
import { el } from "./parts/dom.js";

/** The data inside the file, if there are any; otherwise a server has them. */
function chooseSource() {
  const trace = document.getElementById("trace");
  if (!trace) return new ServerSource();
  const report = document.getElementById("report");
  return new EmbeddedSource(readJSON(trace.textContent ?? "[]"), report ? JSON.parse(report.textContent ?? "null") : null);
}

async function start() {
  try {
    const page = new Page(chooseSource());
    await page.open();
  } catch (error) {
    document.body.append(el("main", { class: "fatal", role: "alert" }, el("h1", {}, "The page could not start"), el("p", {}, /** @type {Error} */ (error).message)));
    throw error;
  }
}

start();
