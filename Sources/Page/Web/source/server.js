import { readJSON, reckonable, writeJSON } from "./exact-json.js";
import { SourceError } from "./model.js";

/** @typedef {import("./model.js").Query} Query */

const root = "/api/v1/page";

/** The page's server. Each method asks one thing; what it answers is in the page's contract. */
export class ServerSource {
  constructor() {
    /** Ends the questions that are under way. */
    this.questions = new AbortController();
  }

  /** A server that has vanished answers nothing, ever; the page asks anew when there is one again. */
  endQuestions() {
    this.questions.abort();
    this.questions = new AbortController();
  }

  /** @param {string} path @param {Record<string, any>} [query] @param {{method?: string, body?: any, blob?: boolean, exact?: boolean, signal?: AbortSignal}} [options] */
  async ask(path, query = {}, options = {}) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null && value !== "") parameters.set(name, String(value));
    const text = parameters.toString();
    // What is to be done, or saved, has an answer of its own, however late.
    const ends = options.method || options.blob ? [] : [this.questions.signal];
    const signal = AbortSignal.any(options.signal ? [...ends, options.signal] : ends);
    let response;
    let content;
    try {
      response = await fetch(`${root}/${path}${text ? `?${text}` : ""}`, {
        method: options.method ?? "GET", credentials: "same-origin", signal,
        headers: options.body === undefined ? {} : { "Content-Type": "application/json" },
        body: options.body === undefined ? undefined : writeJSON(options.body),
      });
      content = options.blob && response.ok ? await response.blob() : await response.text();
    } catch {
      throw new SourceError("frametap does not answer; has it ended?", 0);
    }
    if (!response.ok) throw refusalOf(response.status, /** @type {string} */ (content));
    if (options.blob || response.status === 204) return options.blob ? content : null;
    return options.exact ? readJSON(content) : JSON.parse(content);
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

  /** The status of a request for the state; 0: no answer within `patience`. */
  async status() {
    try {
      const response = await fetch(`${root}/state`, { credentials: "same-origin", signal: AbortSignal.timeout(ServerSource.patience) });
      await response.text();
      return response.status;
    } catch {
      return 0;
    }
  }

  /**
   * Calls `heard` with what is new, at most five times a second, and with `{"connected": …}` when the connection comes or goes. Of a
   * connection that is lost, it is `replaced` if another server refuses this page.
   * @param {(news: any) => void} heard
   * @returns {() => void} ends it
   */
  watch(heard) {
    let pause = 500;
    let ended = false;
    let wasLost = false;
    let last = 0;
    let isAsking = false;
    /** @type {WebSocket | null} */
    let socket = null;
    const connect = () => {
      if (ended) return;
      const own = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${root}/news`);
      socket = own;
      last = performance.now();
      own.onopen = () => {
        if (socket !== own) return;
        pause = 500;
        if (wasLost) this.endQuestions();
        heard({ connected: true });
      };
      own.onmessage = (message) => {
        if (socket !== own) return;
        last = performance.now();
        heard(JSON.parse(message.data));
      };
      own.onclose = () => lost(own);
    };
    const lost = async (/** @type {WebSocket} */ own) => {
      if (ended || socket !== own) return;
      socket = null;
      own.close();
      wasLost = true;
      this.endQuestions();
      heard({ connected: false });
      // Of a connection that is refused, only a request learns why.
      const status = await this.status();
      if (ended) return;
      if (status === 403) heard({ connected: false, replaced: true });
      setTimeout(connect, pause);
      pause = Math.min(10_000, pause * 2);
    };
    // A server that has stopped closes nothing. One that is silent may have no news.
    const listen = async () => {
      const own = socket;
      if (own === null || isAsking || performance.now() - last < ServerSource.silence) return;
      isAsking = true;
      const status = await this.status();
      isAsking = false;
      if (status === 0 || own.readyState !== WebSocket.OPEN) lost(own);
      else last = performance.now();
    };
    const timer = setInterval(listen, 500);
    connect();
    return () => {
      ended = true;
      clearInterval(timer);
      socket?.close();
    };
  }
}

/**
 * What an answer says that is none.
 * @param {number} status @param {string} content
 */
function refusalOf(status, content) {
  let problem = /** @type {any} */ (null);
  try {
    problem = JSON.parse(content);
  } catch {
    // Its status is all that is known.
  }
  return new SourceError(problem?.error ?? `the answer was ${status}`, status, problem?.column ?? null);
}

/** How long nothing may be heard until the server is asked whether it is there, in milliseconds: news come every five seconds. */
ServerSource.silence = 12_000;
/** How long its answer may take. */
ServerSource.patience = 5_000;
