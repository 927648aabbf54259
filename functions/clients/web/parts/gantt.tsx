import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { count, duration, timeOfDay } from '#clients/client/text/time.ts';
import { type ResourceTimes, type Span, tookMs, type Work } from '#platform/text/resource-times.ts';
import { addStyle } from '../lazily.tsx';
import { clock } from '../live.ts';
import ganttStyle from '../style/gantt.css' with { type: 'text' };
import { Switch } from './filters.tsx';
import { Slowest } from './slowest.tsx';

addStyle(ganttStyle);

/** Resources over time: start and end of each operation, from Terraform's output. */

interface GanttProps {
  times: ResourceTimes;
  name: 'plan' | 'apply';
  over: boolean;
  planId: string | undefined;
  /** @param line index of the operation's first output line */
  onAim(line: number): void;
}

const rowHeight = 24;
/** Rows to render above and below the visible ones. */
const margin = 8;

const words: Record<Work, [now: string, done: string]> = {
  refresh: ['refreshing', 'refreshed'],
  read: ['reading', 'read'],
  create: ['creating', 'created'],
  update: ['updating', 'updated'],
  delete: ['destroying', 'destroyed'],
  other: ['running', 'done'],
};

const stateOf = ({ work, to, failed }: Span, over: boolean): string => {
  if (failed) return 'failed';
  if (to !== undefined) return words[work][1];
  return over ? 'not completed' : words[work][0];
};

export const Gantt = ({ times, name, over, planId, onAim }: GanttProps) => {
  const order = useSignal<'In order' | 'Slowest'>('In order');
  const { spans } = times;
  // Clocks differ: the runner's latest message is never in the future.
  const end = spans.some(({ to }) => to === undefined) && !over ? Math.max(clock.value, times.latest) : times.latest;
  const running = over ? 0 : spans.filter(({ to }) => to === undefined).length;
  const failed = spans.filter((span) => span.failed).length;
  const begin = spans.reduce((first, { from }) => Math.min(first, from), end);
  const facts = [
    count(spans.length, 'operation'),
    running && `${running} running`,
    failed && `${failed} failed`,
    duration(end - begin),
  ].filter(Boolean);
  return (
    <section class="gantt" aria-label={`Resources of the ${name} over time`}>
      <div class="row spread">
        <span class="soft small">{facts.join(' · ')}</span>
        <Switch label="Show resources" options={['In order', 'Slowest']} chosen={order} />
      </div>
      {order.value === 'Slowest' ? (
        <Slowest spans={spans} planId={planId} name={name} now={end} onAim={onAim} />
      ) : (
        <Bars spans={spans} name={name} over={over} begin={begin} end={end} onAim={onAim} />
      )}
    </section>
  );
};

interface BarsProps extends Pick<GanttProps, 'name' | 'over' | 'onAim'> {
  spans: Span[];
  begin: number;
  end: number;
}

/** Renders only the rows on screen. */
const Bars = ({ spans, name, over, begin, end, onAim }: BarsProps) => {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const follows = useRef(!over);
  useEffect(() => {
    // Follow new rows at the end, unless the user has scrolled away.
    if (box.current && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [spans.length]);
  const first = Math.max(0, Math.floor(top.value / rowHeight) - margin);
  const visible = spans.slice(first, first + Math.ceil(maxHeight / rowHeight) + 2 * margin);
  const total = Math.max(1, end - begin);
  return (
    <section
      class="bars"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard
      tabIndex={0}
      aria-label={`Operations of the ${name} in order`}
      style={{ maxHeight: `${maxHeight}px` }}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        top.value = scrollTop;
        follows.current = !over && scrollHeight - scrollTop - clientHeight < 2 * rowHeight;
      }}
    >
      <ol
        style={{
          paddingTop: `${first * rowHeight}px`,
          height: `${spans.length * rowHeight}px`,
        }}
      >
        {visible.map((span, i) => (
          <li key={first + i}>
            <Bar span={span} name={name} over={over} begin={begin} total={total} end={end} onAim={onAim} />
          </li>
        ))}
      </ol>
    </section>
  );
};

const maxHeight = 10 * rowHeight;

interface BarProps extends Pick<GanttProps, 'name' | 'over' | 'onAim'> {
  span: Span;
  begin: number;
  end: number;
  total: number;
}

const Bar = ({ span, name, over, begin, total, end, onAim }: BarProps) => {
  const took = tookMs(span, end);
  const open = span.to === undefined;
  const state = stateOf(span, over);
  const tone = span.failed || (open && over) ? 'bad' : span.work;
  return (
    <a
      href={`#${name}-${span.line + 1}`}
      title={`${span.address}: ${state}, ${timeOfDay(new Date(span.from).toISOString())}, ${duration(took)}`}
      onClick={(event) => {
        event.preventDefault();
        onAim(span.line);
      }}
    >
      <span class="address">{span.address}</span>
      <span class="track" aria-hidden="true">
        <i
          class={`${tone}${open && !over ? ' open' : ''}`}
          style={{ left: `${((span.from - begin) / total) * 100}%`, width: `${(took / total) * 100}%` }}
        />
      </span>
      <span class="state">
        {state} <span class="took">{duration(took)}</span>
      </span>
    </a>
  );
};
