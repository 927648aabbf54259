import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Resource } from '../../client/client.ts';
import { count } from '../../client/text/time.ts';
import { addStyle } from '../lazily.tsx';
import { hash, setHash } from '../location.ts';
import { related } from '../session.ts';
import logStyle from '../style/log.css' with { type: 'text' };
import { type Fold, LogFolds } from '../text/log-folds.ts';
import type { LogText } from '../text/log-text.ts';
import { saveFile } from '../text/save.ts';
import { Copy } from './basics.tsx';
import { Gantt } from './gantt.tsx';
import { linkTo, Row } from './log-row.tsx';
import { useLogText } from './log-source.ts';

addStyle(logStyle);

const rowHeight = 20;
/** Rows above and below what is seen. */
const margin = 15;
/** On a phone, lines of a log of at most so many wrap; their heights then differ, so that all of them have to exist. */
const maxWrapped = 600;
const narrow = matchMedia('(max-width: 40rem)');
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

interface LogProps {
  name: 'plan' | 'apply';
  /** What people call it; absent: `name`. */
  what?: string;
  url: string;
  /** Whose log it is: a run, a test run, a query. */
  run: Resource;
  over: boolean;
  /** It has come to its end while it was followed: what comes next is about to be known. */
  onEnd?(): void;
  /** What else there is to see in it, in place of the picture of resources. */
  above?(log: LogText): ComponentChildren;
}

/** Of all logs at once, until the page is loaded again. */
const showsTimes = signal(false);

/** Terraform's output, and above it the resources that it works on as a picture. Only the rows on screen exist, so that its length does not matter. */
export const Log = ({ name, what = name, url, run, over, onEnd = () => {}, above }: LogProps) => {
  const { log, version } = useLogText(name, url, over, onEnd);
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const visibleHeight = useSignal(600);
  const aimed = useSignal<number | undefined>(lineInAddress(name));
  /** A line that was aimed at before it was there. */
  const awaited = useRef(aimed.peek());
  const following = useSignal(!over && aimed.value === undefined);
  const search = useSignal('');
  const length = version.value >= 0 ? log.length : 0;
  const matches = useMemo(() => log.find(search.value), [log, search.value, length]);
  const at = useSignal(0);
  const folds = useMemo(() => new LogFolds(log), [log]);
  const folded = useSignal(false);
  const open = useSignal<ReadonlySet<Fold>>(new Set());
  const rows = useMemo(
    () => (folded.value ? folds.rows(open.value) : undefined),
    [folds, folded.value, open.value, length],
  );
  const height = rows?.length ?? length;

  const toggle = (fold: Fold) => {
    const next = new Set(open.value);
    if (!next.delete(fold)) next.add(fold);
    open.value = next;
  };

  const showLine = (index: number) => {
    following.value = false;
    aimed.value = index;
    awaited.current = undefined;
    let row = index;
    if (folded.value) {
      const fold = folds.foldOf(index);
      if (fold) open.value = new Set([...open.value, fold]);
      row = folds.rows(open.value).findIndex((one) => 'line' in one && one.line === index);
    }
    const element = box.current;
    // What was unfolded for it is there in a moment only.
    if (element) {
      requestAnimationFrame(() => {
        element.scrollTop = Math.max(0, row * rowHeight - element.clientHeight / 3);
        // The row may stand behind the bar of a decision, or off the screen.
        requestAnimationFrame(() => element.querySelector('.aimed')?.scrollIntoView({ block: 'nearest' }));
      });
    }
  };

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      visibleHeight.value = element.clientHeight;
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [visibleHeight]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    if (following.value) element.scrollTop = element.scrollHeight;
    else if (awaited.current !== undefined && length > awaited.current) showLine(awaited.current);
  }, [length]);

  useEffect(() => {
    if (!search.value || matches.length === 0) return;
    at.value = 0;
    showLine(matches[0] as number);
  }, [search.value]);

  useEffect(() => {
    const line = lineInAddress(name);
    if (line === undefined) return;
    following.value = false;
    awaited.current = line;
    if (line < log.length) showLine(line);
  }, [hash.value]);

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const moved = element.scrollTop < top.value;
    top.value = element.scrollTop;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight * 2;
    if (atEnd && !over) following.value = true;
    else if (moved && !atEnd) following.value = false;
  };

  const step = (by: number) => {
    if (matches.length === 0) return;
    at.value = (at.value + by + matches.length) % matches.length;
    const line = matches[at.value] as number;
    linkTo(name, line);
    showLine(line);
  };

  const wraps = isNarrow.value && height <= maxWrapped;
  const first = wraps ? 0 : Math.max(0, Math.floor(top.value / rowHeight) - margin);
  const last = wraps ? height : Math.min(height, Math.ceil((top.value + visibleHeight.value) / rowHeight) + margin);
  const shown = [];
  for (let row = first; row < last; row++) {
    const one = rows ? rows[row] : { line: row };
    if (!one) continue;
    const fold = 'fold' in one ? one.fold : undefined;
    const index = 'line' in one ? one.line : (one.fold.lines.at(one.fold.block ? 0 : -1) as number);
    shown.push(
      <Row
        key={fold ? `${index} fold` : index}
        index={index}
        name={name}
        pieces={fold && open.value.has(fold) ? [{ text: fold.address, style: { bold: true } }] : log.pieces(index)}
        mark={search.value}
        at={showsTimes.value && log.hasTimes ? (log.at(index) ?? null) : undefined}
        aimed={!fold && aimed.value === index}
        onAim={() => (aimed.value = index)}
        fold={
          fold && {
            address: fold.address,
            count: fold.lines.length,
            open: open.value.has(fold),
            onToggle: () => toggle(fold),
          }
        }
      />,
    );
  }
  return (
    <section aria-label={`Output of the ${what}`}>
      {above?.(log)}
      {!above && log.times.spans.length > 1 && (
        <Gantt
          times={log.times}
          name={name}
          over={over}
          planId={related(run, 'plan')}
          onAim={(line) => setHash(`${name}-${line + 1}`)}
        />
      )}
      <div class="log-bar">
        <input
          type="search"
          aria-label={`Search the output of the ${what}`}
          placeholder="Search the output"
          onInput={(event) => {
            search.value = event.currentTarget.value;
            at.value = -1;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
          }}
        />
        {search.value && (
          <>
            <span class="soft small" role="status">
              {matches.length ? `${Math.max(0, at.value) + 1} of ${matches.length}` : 'no matches'}
            </span>
            <button type="button" class="quiet small-button" aria-label="Previous match" onClick={() => step(-1)}>
              ↑
            </button>
            <button type="button" class="quiet small-button" aria-label="Next match" onClick={() => step(1)}>
              ↓
            </button>
          </>
        )}
        <span class="grow" />
        <span class="soft small only-wide">{count(length, 'line')}</span>
        {!over && !following.value && (
          <button
            type="button"
            class="small-button"
            onClick={() => {
              following.value = true;
              if (box.current) box.current.scrollTop = box.current.scrollHeight;
            }}
          >
            Follow output
          </button>
        )}
        {log.hasTimes && (
          <button
            type="button"
            class="small-button"
            aria-pressed={showsTimes.value}
            onClick={() => (showsTimes.value = !showsTimes.value)}
          >
            Times
          </button>
        )}
        {!above && (
          <button
            type="button"
            class="small-button"
            aria-pressed={folded.value}
            onClick={() => {
              folded.value = !folded.value;
              following.value = !folded.value && !over;
            }}
          >
            Fold by resource
          </button>
        )}
        <Copy text={log} label="Copy all" />
        <button type="button" class="small-button" onClick={() => saveFile(log.toString(), `${run.id}-${what}.log`)}>
          Download
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for whoever has no mouse */}
      <section class="log" ref={box} tabIndex={0} aria-label={`Lines of the ${what}`} onScroll={onScroll}>
        {length === 0 ? (
          <p class="quiet-line">{over ? 'No output.' : 'Waiting for output …'}</p>
        ) : (
          <div class={wraps ? 'wraps' : 'canvas'} style={{ height: wraps ? 'auto' : `${height * rowHeight}px` }}>
            <div class="window" style={{ transform: wraps ? 'none' : `translateY(${first * rowHeight}px)` }}>
              {shown}
            </div>
          </div>
        )}
      </section>
    </section>
  );
};

/** `#plan-120` aims at line 120 of the plan. */
const lineInAddress = (name: string): number | undefined => {
  const [, phase, line] = /^#(plan|apply)-(\d+)$/.exec(location.hash) ?? [];
  return phase === name ? Number(line) - 1 : undefined;
};
