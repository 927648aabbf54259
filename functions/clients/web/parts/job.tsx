import type { ComponentChildren } from 'preact';
import { type Resource, related } from '#clients/client/client.ts';
import { Ago, Duration, type Fact, Facts, Notice } from './basics.tsx';
import { Titled } from './head.tsx';
import { Person } from './person.tsx';

interface Props {
  job: Resource<'queries'> | Resource<'test-runs'>;
  /** `query` */
  noun: string;
  title: string;
  status: ComponentChildren;
  /** After the author and the time. */
  note?: ComponentChildren;
  actions: ComponentChildren;
  notices?: ComponentChildren;
  waits: boolean;
  /** When a runner began. */
  began: string | undefined;
  /** Name of the output. */
  label: string;
  facts: Fact[];
  /** Shown instead of no variables. */
  none: string;
  /** The output, once a runner has begun. */
  children: ComponentChildren;
}

/** Something other than a run that a runner executes: who started it and how, and its output. */
export const Job = ({ job, noun, title, status, note, actions, notices, waits, began, ...rest }: Props) => {
  const { 'created-at': created, 'end-reason': reason, 'status-timestamps': at, variables } = job.attributes;
  const ended = at['finished-at'] ?? at['errored-at'] ?? at['canceled-at'] ?? at['force-canceled-at'];
  return (
    <>
      <Titled
        title={title}
        beside={status}
        description={
          <>
            <span class="mono">{job.id}</span> by <Person id={related(job, 'created-by')} />, <Ago at={created} />
            {note && <> · {note}</>}
          </>
        }
      >
        {actions}
      </Titled>
      {reason && <Notice kind="bad">{reason}</Notice>}
      {notices}
      <div class="sides">
        <section class="panel" aria-label={rest.label}>
          {waits ? <p class="pad soft">Waiting for a runner …</p> : rest.children}
        </section>
        <aside class="panel pad" aria-label={`About this ${noun}`}>
          <Facts
            facts={[
              ['Duration', began ? <Duration key="took" from={began} to={ended} /> : 'not started'],
              ...rest.facts,
              ['Variables', variables.length === 0 ? rest.none : variables.map(entryOf)],
            ]}
          />
        </aside>
      </div>
    </>
  );
};

const entryOf = ({ key, value }: { key: string; value: unknown }) => (
  <code key={key} class="entry">
    {key} = {value}
  </code>
);
