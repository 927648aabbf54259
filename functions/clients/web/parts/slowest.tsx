import { useMemo } from 'preact/hooks';
import { duration } from '#clients/client/text/time.ts';
import { type Span, slowest, tookMs } from '#platform/text/resource-times.ts';
import { useLive } from '../live.ts';
import { planOf } from '../plans.ts';

interface Props {
  spans: Span[];
  planId: string | undefined;
  name: 'plan' | 'apply';
  /** Current time for unfinished operations, in milliseconds since 1970. */
  now: number;
  onAim(line: number): void;
}

/** The slowest operations and what they waited for: where time can be saved. */
export const Slowest = ({ spans, planId, name, now, onAim }: Props) => {
  // Dependencies are part of the finished plan.
  const plan = useLive(
    `dependencies/${planId}`,
    () => (planId ? planOf(planId) : Promise.resolve(undefined)),
    () => undefined,
  );
  const dependencies = plan.value?.dependencies;
  const rows = useMemo(() => slowest(spans, dependencies ?? {}, now), [spans.length, dependencies, now]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard on narrow screens
    <section class="scrolls" tabIndex={0} aria-label={`Slowest operations of the ${name}`}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Took</th>
            <th scope="col">Waited for</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ span, after }) => (
            <tr key={`${span.work} ${span.address}`}>
              <th scope="row">
                <Line span={span} name={name} onAim={onAim} />
              </th>
              <td class="nowrap">{duration(tookMs(span, now))}</td>
              <td>
                {after ? (
                  <>
                    <Line span={after} name={name} onAim={onAim} />{' '}
                    <span class="soft small nowrap">until {duration((after.to ?? after.from) - firstOf(spans))}</span>
                  </>
                ) : (
                  <span class="soft small">{dependencies ? 'nothing' : 'known after the plan'}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const firstOf = (spans: Span[]): number => spans.reduce((first, { from }) => Math.min(first, from), Infinity);

const Line = ({ span, name, onAim }: Pick<Props, 'name' | 'onAim'> & { span: Span }) => (
  <a
    class="mono break"
    href={`#${name}-${span.line + 1}`}
    onClick={(event) => {
      event.preventDefault();
      onAim(span.line);
    }}
  >
    {span.address}
  </a>
);
