import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { hash } from '../location.ts';
import { type Fold, LogFolds } from '../text/log-folds.ts';
import type { LogText } from '../text/log-text.ts';
import { linkTo } from './log-row.tsx';
import type { LogSource } from './log-source.ts';

/** State of a log on screen: folded groups, scroll position and search. */

export const rowHeight = 20;

/** @param length number of lines, which may grow */
export const useFolds = ({ log, length }: LogSource) => {
  const folds = useMemo(() => new LogFolds(log), [log]);
  const enabled = useSignal(false);
  const open = useSignal<ReadonlySet<Fold>>(new Set());
  const rows = useMemo(
    () => (enabled.value ? folds.rows(open.value) : undefined),
    [folds, enabled.value, open.value, length],
  );
  const toggle = (fold: Fold) => {
    const next = new Set(open.value);
    if (!next.delete(fold)) next.add(fold);
    open.value = next;
  };
  /** Index of a line's row; unfolds its group. */
  const rowOf = (line: number): number => {
    if (!enabled.value) return line;
    const fold = folds.foldOf(line);
    if (fold) open.value = new Set([...open.value, fold]);
    return folds.rows(open.value).findIndex((row) => 'line' in row && row.line === line);
  };
  /** `rows` is undefined while lines are not grouped. */
  return { enabled, open, rows, toggle, rowOf };
};

const useHeight = (box: RefObject<HTMLElement | null>) => {
  const height = useSignal(600);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);
  return height;
};

/** Rows from either end of a part at which the next one is read. */
const readAhead = 30;

interface ScrollProps {
  source: LogSource;
  /** No more output will come. */
  over: boolean;
  /** The phase failed: the log opens at its first error. */
  failed: boolean;
  /** A line's row. */
  rowOf(line: number): number;
}

export const useScroll = (name: string, { source, over, failed, rowOf }: ScrollProps) => {
  const { log, length } = source;
  // A runner that crashed wrote no end.
  const isComplete = log.closed || over;
  const box = useRef<HTMLElement>(null);
  const top = useSignal(0);
  const height = useHeight(box);
  /** Number of a line, which stays the same when lines before it are read. */
  const aimed = useSignal<number | undefined>(undefined);
  /** A linked line that has not been loaded yet, if the view shall scroll to it too. */
  const awaited = useRef<{ at: Aim; withView: boolean } | undefined>(undefined);
  /** Until the next frame: the view will be elsewhere. */
  const isMoving = useRef(false);
  const following = useSignal(!over && aimInAddress(name) === undefined);

  const showLine = (line: number, withView = true) => {
    following.value = false;
    const number = log.numberOf(line);
    aimed.value = number;
    awaited.current = undefined;
    const row = rowOf(line);
    const element = box.current;
    if (!element) return;
    isMoving.current = true;
    // Unfolded rows are rendered in the next frame.
    requestAnimationFrame(() => {
      isMoving.current = false;
      const added = number !== undefined && number < 0 ? log.length + number - line : 0;
      element.scrollTop = Math.max(0, (row + added) * rowHeight - element.clientHeight / 3);
      // The row may be behind the decision bar, or off the screen.
      if (withView) requestAnimationFrame(() => element.querySelector('.aimed')?.scrollIntoView({ block: 'nearest' }));
    });
  };
  const showAwaited = () => {
    if (!awaited.current) return;
    const { at, withView } = awaited.current;
    const line = at === 'error' ? lineOfError(source, isComplete) : log.indexOf(at);
    if (line !== undefined) showLine(line, withView);
    else if (source.isPart) readTowards(at);
  };
  const readTowards = (at: Aim) => {
    const isNearEnd = at === 'error' || at < 0;
    if (isNearEnd !== source.isBackwards) (isNearEnd ? source.toEnd : source.toStart)();
    // The end of a growing log is not there yet.
    else if (length > 0 && (!isNearEnd || isComplete)) source.more();
  };

  useKeptPlace(source, box, () => {
    top.value = box.current?.scrollTop ?? 0;
  });

  useEffect(() => {
    const at = aimInAddress(name);
    if (at !== undefined) awaited.current = { at, withView: true };
    else if (over && failed && !awaited.current) awaited.current = { at: 'error', withView: false };
    if (awaited.current) following.value = false;
    showAwaited();
  }, [hash.value]);

  useEffect(() => {
    if (following.value) toLastLine();
    else showAwaited();
  }, [log, length, following.value]);

  const toLastLine = () => {
    if (source.isPart && !source.isBackwards) source.toEnd();
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const movedUp = element.scrollTop < top.value;
    top.value = element.scrollTop;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const atEnd = below < rowHeight * 2;
    const isMoved = awaited.current !== undefined || isMoving.current;
    const toBorder = source.isBackwards ? element.scrollTop : below;
    if (source.isPart && length > 0 && !isMoved && toBorder < readAhead * rowHeight) source.more();
    const isLast = source.isBackwards || !source.isPart;
    if (atEnd && isLast && !over) following.value = true;
    else if (movedUp && !atEnd) following.value = false;
  };
  const follow = () => {
    following.value = true;
  };
  const toStart = () => {
    following.value = false;
    source.toStart();
  };
  const isAimed = (line: number): boolean => {
    const { value: number } = aimed;
    if (number === undefined) return false;
    if (number > 0) return number === log.numberOf(line);
    return log.closed && number === line - log.length;
  };
  /** The number of a line near the end of a growing log needs the lines before. */
  const aimAt = async (line: number): Promise<void> => {
    const number = log.numberOf(line) ?? (await source.readWhole()).added + line + 1;
    linkTo(name, number);
    aimed.value = number;
    following.value = false;
  };
  return { box, top, height, isAimed, aimAt, following, showLine, onScroll, follow, toStart };
};

/** Without one in the last part of a failed phase's log, its end. */
const lineOfError = ({ log, length, isBackwards }: LogSource, isComplete: boolean): number | undefined => {
  if (!isBackwards) return log.firstError;
  return isComplete && length > 0 ? (log.firstError ?? length - 1) : undefined;
};

/** Keeps the lines on screen where they are when others are added above. */
const useKeptPlace = ({ log, length }: LogSource, box: RefObject<HTMLElement | null>, onMove: () => void) => {
  const before = useRef({ log, length: 0, height: 0, added: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const last = before.current;
    const height = element.scrollHeight;
    before.current = { log, length, height, added: log.added };
    if (log !== last.log) {
      // The whole log takes the place of its end, or another part is read.
      element.scrollTop = log.added > 0 ? element.scrollTop + log.added * rowHeight : 0;
    } else if (log.added > last.added) element.scrollTop += height - last.height;
    else if (log.begin > 0 && last.length === 0) element.scrollTop = height;
    else return;
    onMove();
  }, [log, length]);
};

export const useSearch = (name: string, source: LogSource, showLine: (line: number) => void) => {
  const { log, length, isPart } = source;
  const text = useSignal('');
  const current = useSignal(0);
  const matches = useMemo(() => (isPart ? [] : log.find(text.value)), [log, text.value, length, isPart]);
  useEffect(() => {
    if (!text.value || matches.length === 0) return;
    current.value = 0;
    showLine(matches[0] as number);
  }, [text.value, isPart, matches.length > 0]);
  const find = (value: string) => {
    text.value = value;
    current.value = -1;
    if (value) source.readWhole();
  };
  const step = (by: number) => {
    if (matches.length === 0) return;
    current.value = (current.value + by + matches.length) % matches.length;
    const line = matches[current.value] as number;
    linkTo(name, line + 1);
    showLine(line);
  };
  return { text, current, matches, find, step };
};

/** A line's number as in {@link LogText.numberOf}, or the first error. */
type Aim = number | 'error';

/**
 * `#plan-120` links to line 120 of the plan, `#plan--3` to its third line from the end, `#plan-error` to its first
 * error.
 */
const aimInAddress = (name: string): Aim | undefined => {
  const [, phase, at] = /^#(plan|apply)-(-?\d+|error)$/.exec(location.hash) ?? [];
  if (phase !== name) return undefined;
  return at === 'error' ? at : Number(at);
};
