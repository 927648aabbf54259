import { signal } from '@preact/signals';
import type { LogText } from '../text/log-text.ts';
import { Row } from './log-row.tsx';
import { rowHeight, type useFolds, type useScroll } from './log-view.ts';

/** Rows to render above and below the visible ones. */
const margin = 15;
/** On a phone, lines of logs up to this length wrap. Their heights then differ, so all rows have to be rendered. */
const maxWrapped = 600;
const narrow = matchMedia('(max-width: 40rem)');
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** For all logs, until the page is reloaded. */
export const showsTimes = signal(false);

interface LogRowsProps {
  name: string;
  log: LogText;
  /** Number of lines. */
  length: number;
  /** Highlighted text. */
  mark: string;
  folds: ReturnType<typeof useFolds>;
  scroll: ReturnType<typeof useScroll>;
}

/** Renders only the rows on screen, so that a log may have any length. */
export const LogRows = ({ name, log, length, mark, folds: { rows, open, toggle }, scroll }: LogRowsProps) => {
  const { top, height, isAimed, aimAt } = scroll;
  const rowCount = rows?.length ?? length;
  const wraps = isNarrow.value && rowCount <= maxWrapped;
  const first = wraps ? 0 : Math.max(0, Math.floor(top.value / rowHeight) - margin);
  const end = wraps ? rowCount : Math.min(rowCount, Math.ceil((top.value + height.value) / rowHeight) + margin);
  const visible = [];
  for (let i = first; i < end; i++) {
    const row = rows ? rows[i] : { line: i };
    if (!row) continue;
    const fold = 'fold' in row ? row.fold : undefined;
    const index = 'line' in row ? row.line : (row.fold.lines.at(row.fold.block ? 0 : -1) as number);
    visible.push(
      <Row
        key={fold ? `${index} fold` : index}
        number={log.numberOf(index)}
        name={name}
        pieces={fold && open.value.has(fold) ? [{ text: fold.address, style: { bold: true } }] : log.pieces(index)}
        mark={mark}
        at={showsTimes.value && log.hasTimes ? (log.at(index) ?? null) : undefined}
        aimed={!fold && isAimed(index)}
        onAim={() => aimAt(index)}
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
    <div class={wraps ? 'wraps' : 'canvas'} style={{ height: wraps ? 'auto' : `${rowCount * rowHeight}px` }}>
      <div class="window" style={{ transform: wraps ? 'none' : `translateY(${first * rowHeight}px)` }}>
        {visible}
      </div>
    </div>
  );
};
