import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { bytes, count } from '#clients/client/text/time.ts';
import { addStyle } from '../lazily.tsx';
import { setHash } from '../location.ts';
import { related } from '../session.ts';
import logStyle from '../style/log.css' with { type: 'text' };
import type { LogText } from '../text/log-text.ts';
import { saveFile } from '../text/save.ts';
import { Copy } from './basics.tsx';
import { SmallButton } from './button.tsx';
import { Gantt } from './gantt.tsx';
import { LogRows, showsTimes } from './log-rows.tsx';
import { type LogSource, useLog } from './log-source.ts';
import { useFolds, useScroll, useSearch } from './log-view.ts';

addStyle(logStyle);

interface LogProps {
  name: 'plan' | 'apply';
  /** Display name; absent: `name`. */
  what?: string;
  url: string;
  /** The run, test run or query that the log belongs to. */
  run: Resource;
  over: boolean;
  /** The phase failed. */
  failed?: boolean;
  /** The log ended while it was followed: the run's status changes soon. */
  onEnd?(): void;
  /** Shown above the output, in place of the chart of resources. */
  above?(log: LogText): ComponentChildren;
}

/** Terraform's output, below a chart of the resources that it works on. */
export const Log = ({ name, what = name, url, run, over, failed = false, onEnd = () => {}, above }: LogProps) => {
  const source = useLog({ name, url, over, all: above !== undefined, onEnd });
  const { log, length, isPart } = source;
  const folds = useFolds(source);
  const scroll = useScroll(name, { source, over, failed, rowOf: folds.rowOf });
  const search = useSearch(name, source, scroll.showLine);
  const { enabled: folded } = folds;
  const { following } = scroll;
  return (
    <section aria-label={`Output of the ${what}`}>
      {above?.(log)}
      {!above && !isPart && log.times.spans.length > 1 && (
        <Gantt
          times={log.times}
          name={name}
          over={over}
          planId={related(run, 'plan')}
          onAim={(line) => setHash(`${name}-${line + 1}`)}
        />
      )}
      <div class="log-bar">
        <Search search={search} isPart={isPart} what={what} />
        <span class="grow" />
        {isPart ? (
          <Extent source={source} over={over} onStart={scroll.toStart} />
        ) : (
          <span class="soft small only-wide">{count(length, 'line')}</span>
        )}
        {!over && !following.value && <SmallButton text="Follow output" onClick={scroll.follow} />}
        {log.hasTimes && (
          <Toggle label="Times" pressed={showsTimes.value} onClick={() => (showsTimes.value = !showsTimes.value)} />
        )}
        {!above && (
          <Toggle
            label="Fold by resource"
            pressed={folded.value}
            onClick={async () => {
              await source.readWhole();
              folded.value = !folded.value;
              following.value = !folded.value && !over;
            }}
          />
        )}
        {!isPart && <Copy text={log} label="Copy all" />}
        <SmallButton
          text="Download"
          onClick={async () => saveFile((await source.readWhole()).toString(), `${run.id}-${what}.log`)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
      <section class="log" ref={scroll.box} tabIndex={0} aria-label={`Lines of the ${what}`} onScroll={scroll.onScroll}>
        {length === 0 ? (
          <p class="quiet-line">{over && !isPart ? 'No output.' : 'Waiting for output …'}</p>
        ) : (
          <LogRows name={name} log={log} length={length} mark={search.text.value} folds={folds} scroll={scroll} />
        )}
      </section>
    </section>
  );
};

interface ExtentProps {
  source: LogSource;
  over: boolean;
  onStart(): void;
}

/** How much of a long log is read, and what reads more. Its chart needs all of it. */
const Extent = ({ source, over, onStart }: ExtentProps) => {
  const { log, size, isBackwards, readOfWhole } = source;
  const read = log.offset - log.start;
  return (
    <>
      {/* Not announced as it grows. */}
      <span class="soft small" role={over || readOfWhole !== undefined ? 'status' : undefined}>
        {readOfWhole === undefined
          ? `${isBackwards ? 'Last' : 'First'} ${bytes(read)} of ${bytes(size)}`
          : `Reading ${bytes(readOfWhole)} of ${bytes(size)} …`}
      </span>
      {isBackwards ? (
        <SmallButton text="Jump to start" onClick={onStart} />
      ) : (
        over && <SmallButton text="Jump to end" onClick={source.toEnd} />
      )}
      {log.hasTimes && <SmallButton text="Chart" onClick={source.readWhole} />}
    </>
  );
};

const Toggle = ({ label, pressed, onClick }: { label: string; pressed: boolean; onClick(): void }) => (
  <button type="button" class="small-button" aria-pressed={pressed} onClick={onClick}>
    {label}
  </button>
);

const Search = ({ search, isPart, what }: { search: ReturnType<typeof useSearch>; isPart: boolean; what: string }) => {
  const { text, current, matches, find, step } = search;
  return (
    <>
      <input
        type="search"
        aria-label={`Search the output of the ${what}`}
        placeholder="Search the output"
        onInput={(event) => find(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
        }}
      />
      {text.value && !isPart && (
        <>
          <span class="soft small" role="status">
            {matches.length ? `${Math.max(0, current.value) + 1} of ${matches.length}` : 'no matches'}
          </span>
          <button type="button" class="quiet small-button" aria-label="Previous match" onClick={() => step(-1)}>
            ↑
          </button>
          <button type="button" class="quiet small-button" aria-label="Next match" onClick={() => step(1)}>
            ↓
          </button>
        </>
      )}
    </>
  );
};
