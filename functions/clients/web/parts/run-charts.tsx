import { duration } from '#clients/client/text/time.ts';
import type { Day } from '../text/run-history.ts';
import { Table } from './list.tsx';

/** Small charts as SVG, with a table or a label as an alternative that does not depend on color. */

const width = 560;
const height = 120;
const gap = 3;

const label = (date: string): string =>
  new Date(`${date}T12:00:00`).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });

/** Runs by day as stacked bars: succeeded below, then discarded or canceled, failed on top with stripes. */
export const DailyRuns = ({ days }: { days: Day[] }) => {
  const most = Math.max(1, ...days.map(({ succeeded, failed, other }) => succeeded + failed + other));
  const step = width / days.length;
  const bars = days.flatMap(({ date, succeeded, failed, other }, i) => {
    let y = height;
    return (
      [
        ['good', succeeded],
        ['other', other],
        ['bad', failed],
      ] as const
    ).flatMap(([kind, n]) => {
      if (n === 0) return [];
      const size = (n / most) * (height - 4);
      y -= size;
      return <rect key={`${date} ${kind}`} class={kind} x={i * step} y={y} width={step - gap} height={size} rx="1.5" />;
    });
  });
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <defs>
          <pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="ground" width="6" height="6" />
            <rect class="stripe" width="2" height="6" />
          </pattern>
        </defs>
        <line x1="0" y1={height - 0.5} x2={width} y2={height - 0.5} />
        {bars}
      </svg>
      <div class="row spread soft small" aria-hidden="true">
        <span>{label(days[0]?.date ?? '')}</span>
        <span class="legend">
          <i class="good" /> succeeded <i class="other" /> discarded or canceled <i class="bad" /> failed
        </span>
        <span>Today</span>
      </div>
      <AsTable
        label="Runs by day"
        heads={['Succeeded', 'Failed', 'Discarded or canceled', 'Median duration']}
        rows={days.map(({ date, succeeded, failed, other, medianMs }) => [
          date,
          succeeded,
          failed,
          other,
          medianMs === undefined ? '–' : duration(medianMs),
        ])}
      />
    </figure>
  );
};

interface AsTableProps {
  label: string;
  heads: string[];
  rows: [date: string, ...(string | number)[]][];
}

/** The values of a chart. */
const AsTable = ({ label, heads, rows }: AsTableProps) => (
  <details>
    <summary>As a table</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard */}
    <section class="scrolls fits" tabIndex={0} aria-label={label}>
      <Table heads={['Day', ...heads]}>
        {rows.map(([date, ...values]) => (
          <tr key={date}>
            <th scope="row">{date}</th>
            {values.map((value, i) => (
              <td key={i}>{value}</td>
            ))}
          </tr>
        ))}
      </Table>
    </section>
  </details>
);

const trendHeight = 64;

/** Line chart of a daily value, labeled with its first and last value; skips days without a value. */
export const Trend = ({
  title,
  days,
  format,
}: {
  title: string;
  days: { date: string; value: number | undefined }[];
  format(value: number): string;
}) => {
  const known = days.flatMap(({ date, value }, i) => (value === undefined ? [] : [{ date, value, i }]));
  const most = Math.max(...known.map(({ value }) => value), 0) || 1;
  const x = (i: number) => (days.length < 2 ? width : (i / (days.length - 1)) * width);
  const y = (value: number) => trendHeight - 3 - (value / most) * (trendHeight - 8);
  const points = known.map(({ value, i }) => `${x(i)},${y(value)}`).join(' ');
  const last = known.at(-1);
  return (
    <figure class="chart trend panel pad">
      <figcaption>
        <span class="soft small">{title}</span>
        <strong>{last ? format(last.value) : '–'}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${trendHeight}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1="0" y1={trendHeight - 0.5} x2={width} y2={trendHeight - 0.5} />
        {known.length > 1 && (
          <polygon points={`${x(known[0]?.i ?? 0)},${trendHeight} ${points} ${x(last?.i ?? 0)},${trendHeight}`} />
        )}
        <polyline points={points} />
        {known.map(({ date, value, i }) => (
          <path key={date} d={`M${x(i)} ${y(value)}h0`} />
        ))}
      </svg>
      <AsTable
        label={`${title} by day`}
        heads={[title]}
        rows={days.map(({ date, value }) => [date, value === undefined ? '–' : format(value)])}
      />
    </figure>
  );
};
