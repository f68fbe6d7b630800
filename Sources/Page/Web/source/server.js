import { readJSON, reckonable, writeJSON } from "./exact-json.js";
import { SourceError } from "./model.js";

/** @typedef {import("./model.js").Query} Query */

const root = "/api/v1/page";

/** The page's server. Each method asks one thing; what it answers is in the page's contract. */
export class ServerSource {
  /** @param {string} path @param {Record<string, any>} [query] @param {{method?: string, body?: any, blob?: boolean, exact?: boolean, signal?: AbortSignal}} [options] */
  async ask(path, query = {}, options = {}) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null && value !== "") parameters.set(name, String(value));
    const text = parameters.toString();
    let response;
    try {
      response = await fetch(`${root}/${path}${text ? `?${text}` : ""}`, {
        method: options.method ?? "GET", credentials: "same-origin", signal: options.signal,
        headers: options.body === undefined ? {} : { "Content-Type": "application/json" },
        body: options.body === undefined ? undefined : writeJSON(options.body),
      });
    } catch {
      throw new SourceError("frametap does not answer; has it ended?", 0);
    }
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}));
      throw new SourceError(problem.error ?? `the answer was ${response.status}`, response.status, problem.column ?? null);
    }
    if (options.blob) return response.blob();
    if (options.exact) return readJSON(await response.text());
    return response.status === 204 ? null : response.json();
  }

  state() { return this.ask("state"); }
  /** @param {import("./model.js").ConnectionQuery} query */
  connections(query) { return this.ask("connections", query); }
  /** @param {Query & {from: number, count: number}} query */
  frames(query) { return this.ask("frames", query); }
  /** @param {Query & {event?: number, at?: string}} query */
  place(query) { return this.ask("place", query); }
  /** @param {number} event */
  async event(event) {
    const answer = await this.ask(`event/${event}`, {}, { exact: true });
    reckonable(answer.line);
    return answer;
  }

  /** @param {Record<string, any>} query */
  timeline(query) { return this.ask("timeline", query); }
  /** @param {Record<string, any>} query */
  conversation(query) { return this.ask("conversation", query); }
  findings() { return this.ask("findings"); }
  /** @param {{kind: string, from: number, count: number}} query */
  findingsOf(query) { return this.ask("findings", query); }
  /** @param {number | null} connection */
  roundTrips(connection) { return this.ask("roundtrips", { connection }); }
  summary() { return this.ask("summary"); }
  /** @param {string} prefix */
  complete(prefix) { return this.ask("complete", { prefix }); }
  /** @param {Record<string, any>} query @returns {Promise<Blob>} */
  save(query) { return this.ask("save", query, { blob: true }); }

  /** The report, if the server makes one. */
  async report() {
    try {
      return await this.ask("report");
    } catch (error) {
      if (error instanceof SourceError && [404, 501].includes(error.status)) return null;
      throw error;
    }
  }

  listeners() { return this.ask("listeners"); }
  /** @param {string} name @param {string[]} rules */
  setRules(name, rules) { return this.ask(`listeners/${encodeURIComponent(name)}/rules`, {}, { method: "PUT", body: rules }); }
  /** @param {string} name @param {string[]} conditions */
  setBreakpoints(name, conditions) { return this.ask(`listeners/${encodeURIComponent(name)}/breakpoints`, {}, { method: "PUT", body: conditions }); }
  async held() {
    const answer = await this.ask("held", {}, { exact: true });
    for (const held of answer.held) reckonable(held.line);
    return answer;
  }

  /** @param {string} name @param {number} connection @param {any} decision */
  decide(name, connection, decision) {
    return this.ask(`listeners/${encodeURIComponent(name)}/connections/${connection}/decide`, {}, { method: "POST", body: decision });
  }
  /** @param {string} name @param {number} connection @param {any} frame */
  send(name, connection, frame) {
    return this.ask(`listeners/${encodeURIComponent(name)}/connections/${connection}/frames`, {}, { method: "POST", body: frame });
  }

  /**
   * Calls `heard` with what is new, at most five times a second, and with `{"connected": …}` when the connection comes or goes.
   * @param {(news: any) => void} heard
   * @returns {() => void} ends it
   */
  watch(heard) {
    let pause = 500;
    let ended = false;
    /** @type {WebSocket | null} */
    let socket = null;
    const connect = () => {
      if (ended) return;
      socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root}/news`);
      socket.onopen = () => {
        pause = 500;
        heard({ connected: true });
      };
      socket.onmessage = (message) => heard(JSON.parse(message.data));
      socket.onclose = () => {
        if (ended) return;
        heard({ connected: false });
        // Of a connection that is refused, only a request learns why.
        this.state().catch((error) => {
          if (error.status === 403 && !ended) heard({ connected: false, replaced: true });
        });
        setTimeout(connect, pause);
        pause = Math.min(10_000, pause * 2);
      };
    };
    connect();
    return () => {
      ended = true;
      socket?.close();
    };
  }
}
