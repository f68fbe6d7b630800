import { secretSign } from "../parts/text.js";
import { writeJSON } from "./exact-json.js";
import { previewOf } from "./preview.js";

/** @typedef {import("./model.js").Row} Row */

/**
 * What a list shows of a line of a trace.
 * @param {any} line
 * @param {number} event
 * @param {string} time in nanoseconds
 * @returns {Row}
 */
export function rowOf(line, event, time) {
  const row = /** @type {Row} */ ({
    event, kind: line.event, connection: line.connection ?? 0, from: line.from ?? null, leg: line.leg ?? null, time,
  });
  switch (line.event) {
    case "frame":
      return {
        ...row, index: line.index, type: line.type, length: line.length, segments: line.segments, merged: line.merged,
        heartbeat: line.heartbeat, missing: line.body?.missing ?? 0, preview: previewOf(line), secret: line.detail?.hidden === true || hasSecret(line),
      };
    case "finding":
      return { ...row, findingKind: line.kind, severity: line.severity, message: line.message, index: line.data?.index ?? line.data?.lastIndex ?? null };
    case "missing": case "unframed": case "dropped":
      return { ...row, offset: line.offset, length: line.length, reason: line.reason ?? null, detail: line.detail ?? "" };
    case "action":
      return { ...row, action: line.action, rule: line.rule, index: line.index, type: line.type, detail: line.detail };
    default:
      return { ...row, text: oneLine(line) };
  }
}

/** @param {any} line */
function oneLine(line) {
  switch (line.event) {
    case "opened": return `${line.client} → ${line.server}${line.handshake ? "" : ", picked up mid-stream"}`;
    case "format": return `${line.format} by ${line.by}: ${line.evidence}`;
    case "tls": return [line.version ?? "TLS", line.serverName, line.decrypted ? `decrypted (${line.decrypted})` : "not decrypted"].filter(Boolean).join(", ");
    case "closed": return `${line.reason}${line.by ? ` by ${line.by}` : ""}${line.detail ? `: ${line.detail}` : ""}`;
    default: return "";
  }
}

/** @param {any} line */
function hasSecret(line) {
  const texts = [writeJSON(line.fields ?? null), writeJSON(line.body?.json ?? line.body?.protobuf ?? line.body?.fields ?? line.body?.text ?? null)];
  return texts.some((text) => text.slice(0, 4096).includes(secretSign));
}
