import type { ComponentChildren } from 'preact';
import type { Resource } from '#clients/client/client.ts';
import { duration } from '#clients/client/text/time.ts';
import { related } from '../session.ts';
import { workedMs } from '../text/run-history.ts';
import { Ago } from './basics.tsx';
import { Item } from './list.tsx';
import { Person } from './person.tsx';
import { FailureReason, isOver, kindOf, Status, since } from './status.tsx';

/** A run in a list. */
export const RunLine = ({
  run,
  organization,
  workspace,
  showWorkspace = false,
  note,
  plan,
  commit,
  pull,
  sender,
  title,
}: {
  run: Resource<'runs'>;
  organization: string;
  workspace: string;
  showWorkspace?: boolean;
  note?: ComponentChildren;
  /** The run's plan or apply, for its changes. */
  plan?: Resource<'plans'> | undefined;
  /** Commit of its configuration. */
  commit?: string | undefined;
  /** Number of the pull request that the commit belongs to. */
  pull?: number | undefined;
  /** Who pushed the commit, for a run that the platform started. */
  sender?: string | undefined;
  /** Shown instead of its message. */
  title?: string;
}) => {
  const author = related(run, 'created-by');
  return (
    <Item
      to={{ view: 'run', organization, workspace, run: run.id }}
      title={title ?? run.attributes.message}
      tags={[kindOf(run)]}
      meta={
        <>
          {showWorkspace && (
            <>
              <strong class="cut-name" title={workspace}>
                {workspace}
              </strong>
              {' · '}
            </>
          )}
          <span class="mono">{run.id}</span> by {(!author && sender) || <Person id={author} />}
          {commit && (
            <>
              {' · '}
              <code>{commit.slice(0, 8)}</code>
            </>
          )}
          {pull && <> · PR #{pull}</>}
          {isOver(run) && workedMs(run) > 0 && <> · {duration(workedMs(run))}</>}
          {note && <> · {note}</>}
          <FailureReason run={run} />
        </>
      }
      end={
        <span class="row">
          {plan && <Counts of={plan} />}
          <Status run={run} />
        </span>
      }
      notes={[<Ago key="at" at={since(run)} />]}
    />
  );
};

/** Plan and commit for RunLine, from the documents included in a list of runs. */
export const partsOf = (
  run: Resource<'runs'>,
  parts: Map<string, Resource>,
): {
  plan: Resource<'plans'> | undefined;
  commit: string | undefined;
  pull: number | undefined;
  sender: string | undefined;
} => {
  const ingress = parts.get((related(run, 'configuration-version') ?? '').replace(/^cv-/, 'ia-'))?.attributes;
  return {
    plan: parts.get(related(run, 'plan') ?? ''),
    commit: ingress?.['commit-sha'],
    pull: ingress?.['pull-request-number'] || undefined,
    sender: ingress?.['sender-username'] ?? undefined,
  };
};

const signs = [
  ['resource-additions', 'add', '+', 'to add'],
  ['resource-changes', 'change', '~', 'to change'],
  ['resource-destructions', 'destroy', '−', 'to destroy'],
] as const;

/** `+4 ~0 −1`; nothing while unknown. */
const Counts = ({ of: { attributes } }: { of: Resource<'plans'> }) =>
  attributes['resource-additions'] === null ? null : (
    <span class="counts">
      {signs.map(([key, tone, sign, words]) => (
        <span key={key} class={attributes[key] ? tone : 'soft'} title={`${attributes[key] ?? 0} ${words}`}>
          {sign}
          {attributes[key] ?? 0}
        </span>
      ))}
    </span>
  );
