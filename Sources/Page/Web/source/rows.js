import { secretSign } from "../parts/text.js";

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
        heartbeat: line.heartbeat, missing: line.missing ?? 0, preview: previewOf(line), secret: line.detail?.hidden === true || hasSecret(line),
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

/**
 * The first words of a frame's content.
 * @param {any} line
 */
export function previewOf(line) {
  const parts = [];
  for (const [name, value] of Object.entries(line.fields ?? {}).slice(0, 6)) {
    if (value === "" || value === null || value === line.type || /^(size|length|total|magic|bodyLength|version)$/.test(name)) continue;
    parts.push(`${name}=${(typeof value === "object" ? JSON.stringify(value) : String(value)).slice(0, 80)}`);
  }
  const body = line.body ?? {};
  if (typeof body.text === "string" && body.text) parts.push(`“${body.text.slice(0, 200)}”`);
  else if (typeof body.hex === "string" && body.hex) parts.push(body.hex.slice(0, 32).replace(/../g, "$& ").trim());
  else {
    const value = body.json ?? body.protobuf ?? body.fields;
    if (value !== undefined) parts.push(JSON.stringify(value).slice(0, 200));
  }
  return parts.join("  ").slice(0, 300);
}

/** @param {any} line */
function hasSecret(line) {
  const texts = [JSON.stringify(line.fields ?? null), JSON.stringify(line.body?.json ?? line.body?.protobuf ?? line.body?.fields ?? line.body?.text ?? null)];
  return texts.some((text) => text.slice(0, 4096).includes(secretSign));
}
