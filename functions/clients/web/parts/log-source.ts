import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PhaseName } from '#run/run.ts';
import { repeat } from '../live.ts';
import { base } from '../location.ts';
import { LogText } from '../text/log-text.ts';

/** Maximum bytes that the API returns per request. */
const pieceBytes = 1_048_576;
/** Bytes of a long log that one request reads. */
const partBytes = 262_144;

/** Logs are read from this origin, regardless of the host in the API's URL. */
const ownUrl = (url: string): string => `${base}${new URL(url).pathname.replace(/^.*?(?=\/logs\/)/, '')}`;

interface Read {
  bytes: Uint8Array;
  /** Of the whole log: of a stored one, or of a growing one that continues after these bytes. */
  size: number | undefined;
}

const read = async (url: string, offset: number, limit: number): Promise<Read> => {
  const response = await fetch(`${ownUrl(url)}?limit=${limit}&offset=${offset}`, { referrerPolicy: 'no-referrer' });
  if (!response.ok) throw new TypeError(`log: status ${response.status}`);
  const header = response.headers.get('x-log-size');
  const size = header === null ? undefined : Number(header);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length === 0 && offset < (size ?? 0)) throw new TypeError('log: no answer');
  return { bytes, size };
};

const quickMs = 400;
const slowMs = 900;

/** Reads one log, a request at a time: as it grows, or the visible parts of a long one. */
class LogReader {
  /** The lines that are read. */
  log: LogText;
  /** Bytes of a log that is read in parts. */
  size: number | undefined;
  /** The whole log, while it is read. */
  whole: LogText | undefined;
  readonly #name: PhaseName;
  readonly #url: string;
  /** Reads only visible parts, once the size is known, until the whole log is wanted. */
  #inParts: boolean;
  /** Bytes to read, from where reading began: forwards, or backwards near the log's end. */
  #wanted = partBytes;
  #isReading = false;
  /** Something else became wanted during a request. */
  #isAskedAgain = false;
  #quiet = 0;
  /** Older output, from before the page was opened, gets no time of receipt. */
  #caughtUp = false;
  #onWhole: ((log: LogText) => void)[] = [];

  constructor(name: PhaseName, url: string, inParts: boolean) {
    this.#name = name;
    this.#url = url;
    this.#inParts = inParts;
    this.log = new LogText(name);
  }

  /** The last lines are read, and others backwards. */
  get isBackwards(): boolean {
    return this.log.begin > 0;
  }

  get isPart(): boolean {
    return this.size !== undefined && (this.isBackwards || !this.log.closed);
  }

  /** Reads the next part, or the one before. */
  more(): void {
    const { log } = this;
    this.#wanted = (this.isBackwards ? log.begin - log.start : log.offset) + partBytes;
  }

  /** Starts again at the beginning. */
  toStart(): void {
    this.#turn(0);
    this.#wanted = partBytes;
  }

  /** Starts again with the last part of a log of known size. */
  toEnd(): void {
    this.#turn(Math.max(0, (this.size ?? 0) - partBytes));
    this.#wanted = 0;
  }

  #turn(begin: number): void {
    this.log = new LogText(this.#name, begin);
    this.#caughtUp = false;
  }

  /** Resolves when every line is read that is written. */
  readWhole(): Promise<LogText> {
    const isUnread = this.#inParts && this.size === undefined;
    if (!this.isPart && !isUnread) return Promise.resolve(this.log);
    this.whole ??= this.isBackwards ? new LogText(this.#name) : this.log;
    return new Promise((resolve) => {
      this.#onWhole.push(resolve);
    });
  }

  /** One request, if one is needed. @returns milliseconds until the next one; undefined: none is needed */
  async step(over: boolean): Promise<number | undefined> {
    this.#isAskedAgain = this.#isReading;
    if (this.#isReading) return undefined;
    this.#isReading = true;
    try {
      const delay = await this.#read(over);
      return this.#isAskedAgain ? 0 : delay;
    } finally {
      this.#isReading = false;
    }
  }

  #read(over: boolean): Promise<number | undefined> {
    const { log } = this;
    if (this.whole) return this.#nextOfWhole(this.whole);
    const isBegun = this.isBackwards && (log.length > 0 || log.closed);
    const isWanted = log.start > 0 && log.begin - log.start < this.#wanted;
    return isBegun && isWanted ? this.#before() : this.#next(over);
  }

  async #nextOfWhole(log: LogText): Promise<number | undefined> {
    const known = this.isBackwards ? this.log.firstLineAt : 0;
    // Up to the lines that were read before, to count those above them.
    const limit = log.offset < known ? Math.min(pieceBytes, known - log.offset) : pieceBytes;
    const { bytes, size } = log.closed ? { bytes: new Uint8Array(), size: undefined } : await this.#readOf(log, limit);
    log.append(bytes);
    this.#noteSize(size);
    if (log.offset === known) log.added = log.length;
    if (!log.closed && (bytes.length === limit || log.offset < (this.size ?? 0))) return 0;
    this.log = log;
    this.#inParts = false;
    this.#caughtUp = true;
    this.size = undefined;
    this.whole = undefined;
    for (const resolve of this.#onWhole.splice(0)) resolve(log);
    return log.closed ? undefined : 0;
  }

  #readOf({ offset }: LogText, limit: number): Promise<Read> {
    return read(this.#url, offset, limit);
  }

  #noteSize(size: number | undefined): void {
    if (this.#inParts && size !== undefined) this.size = Math.max(this.size ?? 0, size);
  }

  async #before(): Promise<number> {
    const { log } = this;
    const from = Math.max(0, log.start - partBytes);
    const { bytes } = await read(this.#url, from, log.start - from);
    if (bytes.length < log.start - from) throw new TypeError('log: no answer');
    log.prepend(bytes);
    return 0;
  }

  async #next(over: boolean): Promise<number | undefined> {
    const { log } = this;
    if (log.closed) return undefined;
    if (this.size !== undefined && !this.isBackwards && log.offset >= this.#wanted) return undefined;
    const limit = this.#inParts ? partBytes : pieceBytes;
    const { bytes, size } = await this.#readOf(log, limit);
    // Meanwhile, another part became wanted.
    if (log !== this.log) return 0;
    this.#noteSize(size);
    log.append(bytes, this.#caughtUp && !over ? Date.now() : undefined);
    if (this.isBackwards) this.#noteSize(log.offset);
    if (log.closed) return undefined;
    if (bytes.length >= limit) return 0;
    this.#catchUp(size);
    this.#quiet = bytes.length ? 0 : this.#quiet + 1;
    // A runner that crashed wrote no closing byte.
    if (over && this.#quiet > 2) return undefined;
    return this.#quiet < 3 ? quickMs : slowMs;
  }

  /** All of a growing log is read that is written: what follows is followed. */
  #catchUp(size: number | undefined): void {
    this.#caughtUp = true;
    if (this.isBackwards || size !== undefined) return;
    this.#inParts = false;
    this.size = undefined;
  }
}

interface SourceProps {
  name: PhaseName;
  url: string;
  over: boolean;
  /** Reads a long log whole, too. */
  all: boolean;
  /** Called at the log's end, unless the phase was already over. */
  onEnd(): void;
}

export type LogSource = ReturnType<typeof useLog>;

/**
 * Follows a log: every 400 to 900 ms as it grows. Of a log that is long already, it reads the first part, and others on
 * demand.
 */
export const useLog = ({ name, url, over, all, onEnd }: SourceProps) => {
  const reader = useMemo(() => new LogReader(name, url, !all), [url]);
  const version = useSignal(0);
  const ended = useRef(over);
  ended.current = over;
  const task = useRef({ now: () => {} });
  useEffect(() => {
    const repeated = repeat(async () => {
      const { log } = reader;
      const [begin, end] = [log.start, log.offset];
      const delay = await reader.step(ended.current);
      if (log !== reader.log || log.start !== begin || log.offset !== end || reader.whole) version.value++;
      if (log.closed && log.offset !== end && !ended.current) onEnd();
      return delay;
    });
    task.current = repeated;
    return repeated.stop;
  }, [reader, version]);
  const now = () => {
    version.value++;
    task.current.now();
  };
  return {
    log: reader.log,
    /** Number of lines, which may grow. */
    length: version.value >= 0 ? reader.log.length : 0,
    size: reader.size ?? 0,
    /** Only the first or the last lines of a long log are read. */
    isPart: reader.isPart,
    isBackwards: reader.isBackwards,
    /** Bytes read so far of the whole log, which was requested. */
    readOfWhole: reader.whole?.offset,
    more: () => {
      reader.more();
      now();
    },
    toStart: () => {
      reader.toStart();
      now();
    },
    toEnd: () => {
      reader.toEnd();
      now();
    },
    readWhole: () => {
      const done = reader.readWhole();
      now();
      return done;
    },
  };
};
