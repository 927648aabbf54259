import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { repeat } from '../live.ts';
import { base } from '../location.ts';
import { type Piece, plain } from '../text/ansi.ts';
import { LogText } from '../text/log-text.ts';
import { saveFile } from '../text/save.ts';
import { count } from '../text/time.ts';
import { Copy } from './basics.tsx';

const rowHeight = 20;
/** Rows above and below what is seen. */
const margin = 15;
/** The most the platform gives at once. */
const pieceBytes = 1_048_576;

/** Logs are read on this origin, whatever name the API knows itself by. */
const ownUrl = (url: string): string => `${base}${new URL(url).pathname.replace(/^.*?(?=\/logs\/)/, '')}`;

const read = async (url: string, offset: number): Promise<Uint8Array> => {
  const response = await fetch(`${ownUrl(url)}?limit=${pieceBytes}&offset=${offset}`, {
    referrerPolicy: 'no-referrer',
  });
  if (!response.ok) throw new TypeError(`log: status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

const quickMs = 400;
const slowMs = 900;

/** Follows a log: at once while there is more, then as often as new lines come, at most every 400 ms. */
const useLogText = (url: string, over: boolean) => {
  const log = useMemo(() => new LogText(), [url]);
  const version = useSignal(0);
  const ended = useRef(over);
  ended.current = over;
  useEffect(() => {
    let quiet = 0;
    const task = repeat(async () => {
      const bytes = await read(url, log.offset);
      if (log.append(bytes)) version.value++;
      if (log.closed) return undefined;
      if (bytes.length >= pieceBytes) return 0;
      quiet = bytes.length ? 0 : quiet + 1;
      // A runner that died left no closing byte.
      if (ended.current && quiet > 2) return undefined;
      return quiet < 3 ? quickMs : slowMs;
    });
    return task.stop;
  }, [log, url, version]);
  return { log, version };
};

interface LogProps {
  name: 'plan' | 'apply';
  url: string;
  runId: string;
  over: boolean;
}

/** Terraform's output. Only the rows on screen exist, so that its length does not matter. */
export const Log = ({ name, url, runId, over }: LogProps) => {
  const { log, version } = useLogText(url, over);
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const following = useSignal(!over);
  const aimed = useSignal<number | undefined>(lineInAddress(name));
  const search = useSignal('');
  const length = version.value >= 0 ? log.length : 0;
  const found = useMemo(() => log.find(search.value), [log, search.value, length]);
  const at = useSignal(0);

  const showLine = (index: number) => {
    following.value = false;
    aimed.value = index;
    const element = box.current;
    if (element) element.scrollTop = Math.max(0, index * rowHeight - element.clientHeight / 3);
  };

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [height]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    if (following.value) element.scrollTop = element.scrollHeight;
    else if (aimed.value !== undefined && top.value === 0 && length > aimed.value) showLine(aimed.value);
  }, [length]);

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
    if (found.length === 0) return;
    at.value = (at.value + by + found.length) % found.length;
    showLine(found[at.value] as number);
  };

  const first = Math.max(0, Math.floor(top.value / rowHeight) - margin);
  const last = Math.min(length, Math.ceil((top.value + height.value) / rowHeight) + margin);
  const rows = [];
  for (let index = first; index < last; index++) {
    rows.push(
      <Row
        key={index}
        index={index}
        name={name}
        pieces={log.pieces(index)}
        mark={search.value}
        aimed={aimed.value === index}
        onAim={() => {
          aimed.value = index;
        }}
      />,
    );
  }
  return (
    <section aria-label={`Output of the ${name}`}>
      <div class="log-bar">
        <input
          type="search"
          aria-label={`Search the output of the ${name}`}
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
              {found.length ? `${Math.max(0, at.value) + 1} of ${found.length}` : 'not found'}
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
            Follow the end
          </button>
        )}
        <Copy text={log} label="Copy all" />
        <button type="button" class="small-button" onClick={() => saveFile(log.toString(), `${runId}-${name}.log`)}>
          Download
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for whoever has no mouse */}
      <section class="log" ref={box} tabIndex={0} aria-label={`Lines of the ${name}`} onScroll={onScroll}>
        {length === 0 ? (
          <p class="quiet-line">{over ? 'It said nothing.' : 'Waiting for Terraform’s first words …'}</p>
        ) : (
          <div class="canvas" style={{ height: `${length * rowHeight}px` }}>
            <div class="window" style={{ transform: `translateY(${first * rowHeight}px)` }}>
              {rows}
            </div>
          </div>
        )}
      </section>
    </section>
  );
};

const Row = ({
  index,
  name,
  pieces,
  mark,
  aimed,
  onAim,
}: {
  index: number;
  name: string;
  pieces: Piece[];
  mark: string;
  aimed: boolean;
  onAim(): void;
}) => (
  <div class={aimed ? 'line aimed' : 'line'}>
    <a
      class="number"
      href={`#${name}-${index + 1}`}
      tabIndex={-1}
      aria-label={`Line ${index + 1}`}
      onClick={(event) => {
        event.preventDefault();
        history.replaceState(null, '', `#${name}-${index + 1}`);
        onAim();
      }}
    >
      {index + 1}
    </a>
    <span>
      {pieces.map(({ text, style }, i) => {
        const words = marked(text, mark);
        return style === plain ? (
          <span key={i}>{words}</span>
        ) : (
          <span key={i} class={classOf(style)}>
            {words}
          </span>
        );
      })}
    </span>
  </div>
);

const classOf = ({ bold, dim, italic, underline, colour }: Piece['style']): string =>
  [bold && 'b', dim && 'd', italic && 'i', underline && 'u', colour !== undefined && `c${colour}`]
    .filter(Boolean)
    .join(' ');

/** The text with what was searched for marked. */
const marked = (text: string, mark: string) => {
  if (!mark) return text;
  const parts = [];
  const low = text.toLowerCase();
  const wanted = mark.toLowerCase();
  let from = 0;
  for (let i = low.indexOf(wanted); i >= 0; i = low.indexOf(wanted, from)) {
    parts.push(text.slice(from, i), <mark key={i}>{text.slice(i, i + wanted.length)}</mark>);
    from = i + wanted.length;
  }
  return parts.length ? [...parts, text.slice(from)] : text;
};

/** `#plan-120` aims at line 120 of the plan. */
const lineInAddress = (name: string): number | undefined => {
  const [, phase, line] = /^#(plan|apply)-(\d+)$/.exec(location.hash) ?? [];
  return phase === name ? Number(line) - 1 : undefined;
};
