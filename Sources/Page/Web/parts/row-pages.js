const pageSize = 100;
const mostPages = 80;

/**
 * The rows of a list, fetched in pages when they are looked at; the least recently used are forgotten.
 * @template Item
 */
export class RowPages {
  /**
   * @param {(from: number, count: number) => Promise<{total: number, rows: Item[]}>} ask
   * @param {(answer: any) => void} arrived
   * @param {(error: any) => void} failed
   */
  constructor(ask, arrived, failed) {
    this.ask = ask;
    this.arrived = arrived;
    this.failed = failed;
    /** @type {Map<number, Item[]>} */
    this.pages = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.asked = new Map();
    this.generation = 0;
    this.total = 0;
    /** How often was asked, and the latest of these questions that was answered. */
    this.questions = 0;
    this.answered = 0;
  }

  /** Forgets everything: another question is being asked. */
  clear() {
    this.generation += 1;
    this.pages.clear();
    this.asked.clear();
    this.total = 0;
  }

  /** Forgets everything, and asks for nothing any more: the list is gone. */
  close() {
    this.clear();
    this.ask = () => new Promise(() => {});
  }

  /** Forgets pages that may have become longer. */
  grow() {
    for (const [page, rows] of this.pages) if (rows.length < pageSize) this.load(page);
  }

  /** Fetches the page in which the list would go on: nothing else shows that it has become longer when its last page is full. */
  async more() {
    const page = Math.floor(this.total / pageSize);
    // An answer that is under way may be older.
    await this.asked.get(page);
    await this.load(page);
  }

  /**
   * Fetches the visible pages again, and forgets all others: any of them may have changed.
   * @param {() => number[]} visible the first visible row, and the last one
   */
  async renew(visible) {
    // Answers that are under way may be older.
    await Promise.all(this.asked.values());
    const [first, last] = visible().map((index) => Math.floor(index / pageSize));
    for (const page of this.pages.keys()) if (page < first || page > last) this.pages.delete(page);
    for (let page = first; page <= last; page++) await this.load(page);
  }

  /** @param {number} index @returns {Item | undefined} */
  get(index) {
    const page = Math.floor(index / pageSize);
    const rows = this.pages.get(page);
    if (rows) {
      this.pages.delete(page);
      this.pages.set(page, rows);
    }
    const row = rows?.[index - page * pageSize];
    if (row === undefined) this.load(page);
    return row;
  }

  /**
   * What is there already, without asking.
   * @param {number} index @returns {Item | undefined}
   */
  known(index) {
    const page = Math.floor(index / pageSize);
    return this.pages.get(page)?.[index - page * pageSize];
  }

  /** @param {number} page */
  async load(page) {
    if (this.asked.has(page)) return;
    const answer = this.fetch(page);
    this.asked.set(page, answer);
    await answer;
  }

  /**
   * Asks for rows. An answer that is older than another one does not say how long the list is now.
   * @param {number} from @param {number} count
   * @returns {Promise<any>} null: another question has been asked meanwhile
   */
  async question(from, count) {
    const { generation } = this;
    this.questions += 1;
    const number = this.questions;
    const answer = await this.ask(from, count);
    if (generation !== this.generation) return null;
    if (number < this.answered) return { ...answer, total: this.total };
    this.answered = number;
    this.total = answer.total;
    return answer;
  }

  /** @param {number} page */
  async fetch(page) {
    const { generation } = this;
    try {
      const answer = await this.question(page * pageSize, pageSize);
      if (!answer) return;
      this.keep(page, answer.rows);
      this.arrived(answer);
    } catch (error) {
      if (generation === this.generation) this.failed(error);
    } finally {
      if (generation === this.generation) this.asked.delete(page);
    }
  }

  /**
   * Fetches the end of a list that grows. The list may only become as long as there are rows, so that its end is never empty.
   * @param {number} base about where the end is
   * @returns {Promise<{covered: number, total: number, answer: any} | null>} null: another question has been asked meanwhile
   */
  async tail(base) {
    const from = Math.max(0, Math.floor((base - pageSize) / pageSize) * pageSize);
    const answer = await this.question(from, 5 * pageSize);
    if (!answer) return null;
    for (let at = 0; at < answer.rows.length; at += pageSize) this.keep((from + at) / pageSize, answer.rows.slice(at, at + pageSize));
    return { covered: from + answer.rows.length, total: answer.total, answer };
  }

  /**
   * Rows that stay the same keep their identity, so that they are not drawn again.
   * @param {number} page @param {Item[]} rows
   */
  keep(page, rows) {
    const old = this.pages.get(page);
    const kept = old ? rows.map((row, place) => (JSON.stringify(row) === JSON.stringify(old[place]) ? old[place] : row)) : rows;
    this.pages.delete(page);
    this.pages.set(page, kept);
    if (this.pages.size > mostPages) this.pages.delete(/** @type {number} */ (this.pages.keys().next().value));
  }
}
