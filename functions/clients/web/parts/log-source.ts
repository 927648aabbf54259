import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { PhaseName } from '#run/run.ts';
import { repeat } from '../live.ts';
import { base } from '../location.ts';
import { LogText } from '../text/log-text.ts';

/** Maximum bytes that the API returns per request. */
const pieceBytes = 1_048_576;
/** Bytes of a finished log that one request reads. */
const partBytes = 262_144;

/** Logs are read from this origin, regardless of the host in the API's URL. */
const ownUrl = (url: string): string => `${base}${new URL(url).pathname.replace(/^.*?(?=\/logs\/)/, '')}`;

interface Read {
  bytes: Uint8Array;
  /** Of the whole log, once it is stored. */
  size: number | undefined;
}

const read = async (url: string, offset: number, limit: number): Promise<Read> => {
  const response = await fetch(`${ownUrl(url)}?limit=${limit}&offset=${offset}`, { referrerPolicy: 'no-referrer' });
  if (!response.ok) throw new TypeError(`log: status ${response.status}`);
  const size = response.headers.get('x-log-size');
  return { bytes: new Uint8Array(await response.arrayBuffer()), size: size === null ? undefined : Number(size) };
};

const quickMs = 400;
const slowMs = 900;

/** Reads one log, a request at a time: as it grows, or the visible parts of a stored one. */
class LogReader {
  /** The lines that are read: from the log's beginning, or backwards from its end. */
  log: LogText;
  /** Bytes of a stored log. */
  size: number | undefined;
  /** The whole log, while it is read. */
  whole: LogText | undefined;
  readonly #name: PhaseName;
  readonly #url: string;
  /** Reads only visible parts, once the size is known, until the whole log is wanted. */
  #inParts: boolean;
  /** Bytes to read. */
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

  get isBackwards(): boolean {
    return this.log.end > 0;
  }

  get isPart(): boolean {
    return this.size !== undefined && (this.isBackwards || !this.log.closed);
  }

  get #readBytes(): number {
    return this.log.offset - this.log.start;
  }

  /** Reads the next part, or the one before. */
  more(): void {
    this.#wanted = this.#readBytes + partBytes;
  }

  /** Starts again at the end or at the beginning of a log of known size. */
  turn(end: number): void {
    this.log = new LogText(this.#name, end);
    this.#wanted = partBytes;
  }

  /** Resolves when every line is read. */
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
    if (this.whole) return this.#nextOfWhole(this.whole);
    return this.isBackwards ? this.#before() : this.#next(over);
  }

  async #nextOfWhole(whole: LogText): Promise<number | undefined> {
    if (!whole.closed) {
      const { bytes, size } = await read(this.#url, whole.offset, pieceBytes);
      this.size ??= size;
      if (bytes.length === 0 && whole.offset < (this.size ?? 0)) throw new TypeError('log: no answer');
      whole.append(bytes);
    }
    if (!whole.closed && whole.offset < (this.size ?? 0)) return 0;
    this.log = whole;
    this.#inParts = false;
    this.size = undefined;
    this.whole = undefined;
    for (const resolve of this.#onWhole.splice(0)) resolve(whole);
    return undefined;
  }

  async #before(): Promise<number | undefined> {
    const { log } = this;
    if (log.start === 0 || this.#readBytes >= this.#wanted) return undefined;
    const from = Math.max(0, log.start - partBytes);
    const { bytes } = await read(this.#url, from, log.start - from);
    if (bytes.length < log.start - from) throw new TypeError('log: no answer');
    log.prepend(bytes);
    return 0;
  }

  async #next(over: boolean): Promise<number | undefined> {
    const { log } = this;
    if (this.size !== undefined && this.#readBytes >= this.#wanted) return undefined;
    const limit = this.#inParts ? partBytes : pieceBytes;
    const { bytes, size } = await read(this.#url, log.offset, limit);
    if (this.#inParts) this.size ??= size;
    log.append(bytes, this.#caughtUp && !over ? Date.now() : undefined);
    if (bytes.length < limit) this.#caughtUp = true;
    if (log.closed) return undefined;
    if (bytes.length >= limit) return 0;
    this.#quiet = bytes.length ? 0 : this.#quiet + 1;
    // A runner that crashed wrote no closing byte.
    if (over && this.#quiet > 2) return undefined;
    return this.#quiet < 3 ? quickMs : slowMs;
  }
}

interface SourceProps {
  name: PhaseName;
  url: string;
  over: boolean;
  /** Reads a finished log whole, too. */
  all: boolean;
  /** Called at the log's end, unless the phase was already over. */
  onEnd(): void;
}

export type LogSource = ReturnType<typeof useLog>;

/**
 * Follows a log: reads without a pause to the end of the existing output, then every 400 to 900 ms. Of a log that had
 * ended before, it reads the first part, and others on demand.
 */
export const useLog = ({ name, url, over, all, onEnd }: SourceProps) => {
  const reader = useMemo(() => new LogReader(name, url, over && !all), [url]);
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
  const turn = (end: number) => {
    reader.turn(end);
    now();
  };
  return {
    log: reader.log,
    /** Number of lines, which may grow. */
    length: version.value >= 0 ? reader.log.length : 0,
    size: reader.size ?? 0,
    /** Only the first or the last lines of a finished log are read. */
    isPart: reader.isPart,
    isBackwards: reader.isBackwards,
    /** Bytes read so far of the whole log, which was requested. */
    readOfWhole: reader.whole?.offset,
    more: () => {
      reader.more();
      now();
    },
    toStart: () => turn(0),
    toEnd: () => turn(reader.size ?? 0),
    readWhole: () => {
      const done = reader.readWhole();
      now();
      return done;
    },
  };
};
