import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { hash } from '../location.ts';
import { type Fold, LogFolds } from '../text/log-folds.ts';
import type { LogText } from '../text/log-text.ts';
import { linkTo } from './log-row.tsx';

/** State of a log on screen: folded groups, scroll position and search. */

export const rowHeight = 20;

/** @param length number of lines, which may grow */
export const useFolds = (log: LogText, length: number) => {
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

/** @param rowOf a line's row @param over no more output will come */
export const useScroll = (
  name: string,
  { length, over, rowOf }: { length: number; over: boolean; rowOf(line: number): number },
) => {
  const box = useRef<HTMLElement>(null);
  const top = useSignal(0);
  const height = useHeight(box);
  const aimed = useSignal<number | undefined>(lineInAddress(name));
  /** A linked line that has not been loaded yet. */
  const awaited = useRef(aimed.peek());
  const following = useSignal(!over && aimed.value === undefined);

  const showLine = (line: number) => {
    following.value = false;
    aimed.value = line;
    awaited.current = undefined;
    const row = rowOf(line);
    const element = box.current;
    if (!element) return;
    // Unfolded rows are rendered in the next frame.
    requestAnimationFrame(() => {
      element.scrollTop = Math.max(0, row * rowHeight - element.clientHeight / 3);
      // The row may be behind the decision bar, or off the screen.
      requestAnimationFrame(() => element.querySelector('.aimed')?.scrollIntoView({ block: 'nearest' }));
    });
  };

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    if (following.value) element.scrollTop = element.scrollHeight;
    else if (awaited.current !== undefined && length > awaited.current) showLine(awaited.current);
  }, [length]);

  useEffect(() => {
    const line = lineInAddress(name);
    if (line === undefined) return;
    following.value = false;
    awaited.current = line;
    if (line < length) showLine(line);
  }, [hash.value]);

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const movedUp = element.scrollTop < top.value;
    top.value = element.scrollTop;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight * 2;
    if (atEnd && !over) following.value = true;
    else if (movedUp && !atEnd) following.value = false;
  };
  const follow = () => {
    following.value = true;
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  return { box, top, height, aimed, following, showLine, onScroll, follow };
};

export const useSearch = (
  name: string,
  { log, length, showLine }: { log: LogText; length: number; showLine(line: number): void },
) => {
  const text = useSignal('');
  const current = useSignal(0);
  const matches = useMemo(() => log.find(text.value), [log, text.value, length]);
  useEffect(() => {
    if (!text.value || matches.length === 0) return;
    current.value = 0;
    showLine(matches[0] as number);
  }, [text.value]);
  const find = (value: string) => {
    text.value = value;
    current.value = -1;
  };
  const step = (by: number) => {
    if (matches.length === 0) return;
    current.value = (current.value + by + matches.length) % matches.length;
    const line = matches[current.value] as number;
    linkTo(name, line);
    showLine(line);
  };
  return { text, current, matches, find, step };
};

/** `#plan-120` links to line 120 of the plan. @returns its index */
const lineInAddress = (name: string): number | undefined => {
  const [, phase, line] = /^#(plan|apply)-(\d+)$/.exec(location.hash) ?? [];
  return phase === name ? Number(line) - 1 : undefined;
};
